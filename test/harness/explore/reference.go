package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// reference is what a scenario comes to without any fault.
type reference struct {
	end     oracle.Snapshot
	varies  oracle.Variation // what differs between two runs
	writes  []faults.Write   // those that both runs made
	reads   []faults.Point
	watches []string // the resources whose objects the scenario moves, as the operator watches them
	actions int
	// counts are how often the operator created and deleted each object; -1 where two runs differ.
	counts map[string]int
	polls  bool
}

// learnOne plays a scenario twice without any fault.
func (e *Explorer) learnOne(ctx context.Context, story scenario.Scenario) (*reference, error) {
	ref := &reference{}
	first, one, err := e.faultless(ctx, story, ref)
	if err != nil {
		return nil, err
	}
	_, two, err := e.faultless(ctx, story, ref)
	if err != nil {
		return nil, err
	}
	ref.end, ref.varies = one.end, oracle.Compare(one.end, two.end)
	ref.writes, ref.counts = inBoth(one.writes, two.writes), one.counts
	for what := range union(one.counts, two.counts) {
		if one.counts[what] != two.counts[what] {
			ref.counts[what] = -1
		}
	}
	for point, count := range first.wire.Points() {
		switch {
		case point.Verb == "get" || point.Verb == "list":
			point.Nth = count
			ref.reads = append(ref.reads, point)
		case point.Verb == "watch" && moves(point.Target, one.history):
			ref.watches = append(ref.watches, point.Target)
		}
	}
	slices.SortFunc(ref.reads, func(a, b faults.Point) int { return strings.Compare(a.String(), b.String()) })
	slices.Sort(ref.watches)
	for _, step := range story.Steps {
		if step.Acts {
			ref.actions++
		}
	}
	return ref, nil
}

// inBoth leaves out the writes that the operator makes now and then, such as one status more on the way:
// a fault that is to befall one of these would often befall nothing.
func inBoth(one, two []faults.Write) []faults.Write {
	return slices.DeleteFunc(slices.Clone(one), func(write faults.Write) bool {
		return !slices.ContainsFunc(two, func(other faults.Write) bool { return other.Point == write.Point })
	})
}

// faultlessOutcome is an outcome with what the operator did for it.
type faultlessOutcome struct {
	outcome
	writes []faults.Write
	counts map[string]int
}

// faultless plays a scenario without any fault. If the operator turns out to ask without end, that is
// noted, and it plays again.
func (e *Explorer) faultless(ctx context.Context, story scenario.Scenario, ref *reference) (*run, faultlessOutcome, error) {
	r, end, err := e.run(ctx, story, faults.Fault{}, ref)
	switch {
	case err != nil:
		return nil, faultlessOutcome{}, err
	case errors.Is(end.steps, oracle.ErrNotSilent) && !ref.polls:
		ref.polls = true
		return e.faultless(ctx, story, ref)
	case end.steps != nil:
		return nil, faultlessOutcome{}, fmt.Errorf("%s fails without any fault: %w", story.Name, end.steps)
	case end.restless != nil:
		return nil, faultlessOutcome{}, fmt.Errorf("%s never converges without any fault: %w", story.Name, end.restless)
	}
	writes := r.wire.Writes()
	return r, faultlessOutcome{end, writes, counts(writes)}, nil
}

// counts tells how often each object was created and deleted by the operator.
func counts(writes []faults.Write) map[string]int {
	counts := map[string]int{}
	for _, write := range writes {
		switch {
		case write.Created:
			counts[created(write.Target, write.Object)]++
		case write.Deleted:
			counts["deleted "+write.Target+" "+write.Object]++
		}
	}
	return counts
}

func created(target, object string) string { return "created " + target + " " + object }

func union(one, two map[string]int) map[string]int {
	all := maps.Clone(one)
	maps.Copy(all, two)
	return all
}

// moves tells whether objects of a resource, such as "deployments.apps", are part of a history.
func moves(target string, history []oracle.Version) bool {
	resource, group, _ := strings.Cut(target, ".")
	return slices.ContainsFunc(history, func(version oracle.Version) bool {
		kind := version.GroupVersionKind()
		return kind.Group == group && strings.HasPrefix(resource, strings.ToLower(kind.Kind))
	})
}
