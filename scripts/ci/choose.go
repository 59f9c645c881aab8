package main

import (
	"fmt"
	"slices"
	"strings"
)

// instance is a job, or the part of it that one of its matrix's combinations makes.
type instance struct {
	id   string
	part part
}

func (i instance) String() string {
	if title := i.part.title(); title != "" {
		return fmt.Sprintf("%s (%s)", i.id, title)
	}
	return i.id
}

// folder names what the instance leaves.
func (i instance) folder() string {
	return strings.NewReplacer(" (", "-", ", ", "-", ")", "").Replace(i.String())
}

// choose lists what is to be run, needed jobs first and else in the file's order: all, or those that a job's
// name and a KEY=VALUE of the matrices select. What they leave out is listed too, and so is then who judges all.
func choose(w *workflow, name, only string) (chosen, leftOut []instance, err error) {
	if name != "" && w.Jobs[name] == nil {
		return nil, nil, fmt.Errorf("JOB=%s is none of the workflow's jobs: set one of %s", name, strings.Join(w.order, ", "))
	}
	judges := func(id string) bool { return w.Jobs[id].If == "always()" }
	if name != "" && judges(name) {
		return nil, nil, fmt.Errorf("%s judges the other jobs: run it with them", name)
	}
	key, value, ok := strings.Cut(only, "=")
	if only != "" && !ok {
		return nil, nil, fmt.Errorf("MATRIX=%s selects nothing: set a key and its value, such as kubernetes=v1.37.0", only)
	}
	order, err := w.sorted()
	if err != nil {
		return nil, nil, err
	}
	all, known := name+only == "", false
	for _, id := range order {
		for _, p := range w.Jobs[id].Strategy.Matrix.parts() {
			has, varies := p[key]
			known = known || has == value
			if (name == "" || name == id) && (!varies || has == value) && (all || !judges(id)) {
				chosen = append(chosen, instance{id, p})
			} else {
				leftOut = append(leftOut, instance{id, p})
			}
		}
	}
	if only != "" && !known {
		return nil, nil, fmt.Errorf("MATRIX=%s: no matrix has that value", only)
	}
	return chosen, leftOut, nil
}

// sorted lists the jobs such that each comes after those that it needs.
func (w *workflow) sorted() ([]string, error) {
	var sorted []string
	for len(sorted) < len(w.order) {
		next := slices.IndexFunc(w.order, func(id string) bool {
			return !slices.Contains(sorted, id) && !slices.ContainsFunc(w.Jobs[id].Needs, func(needed string) bool {
				return !slices.Contains(sorted, needed)
			})
		})
		if next < 0 {
			return nil, fmt.Errorf("jobs need each other in a circle, beyond %s", strings.Join(sorted, ", "))
		}
		sorted = append(sorted, w.order[next])
	}
	return sorted, nil
}
