package invent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/specgen"
)

const (
	// maxTriedFields is how many fields of a resource are changed to see whether the operator reacts.
	maxTriedFields = 40
	// maxChanges is how many fields get a scenario of their own.
	maxChanges = 8
)

// candidate is a scenario that is kept if it converges and shows something.
type candidate struct {
	Scenario
	// shows tells whether an observation makes the scenario worth keeping, and if not, why; nil if it always does.
	shows func(explore.Observation) (why string, kept bool)
	// isChange tells that only maxChanges of these are kept.
	isChange bool
}

// changes are a scenario for each field that the schema lets change.
func (s subject) changes() []candidate {
	resource := s.sample.Resource
	spec, _ := resource.Object["spec"].(map[string]any)
	schema, err := specgen.New(s.sample.CRD, resource.GroupVersionKind().Version, specgen.SkipUnknown())
	if err != nil || spec == nil {
		return nil // a resource without a spec has no field to change
	}
	var candidates []candidate
	for _, variation := range schema.Variations(spec) {
		if len(candidates) == maxTriedFields {
			s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: more than %d fields can change: the others were not tried", s.prefix, maxTriedFields))
			break
		}
		changed := resource.DeepCopy()
		changed.Object["spec"] = variation.To
		field := strings.TrimPrefix(variation.Changed[0], "spec.")
		document := s.document("change-"+field, append(s.created(), applyStep(changed), converged(), applyStep(resource), converged())...)
		candidates = append(candidates, candidate{Scenario: Scenario{document, variation.String() + ", and back"}, shows: s.reacted(field), isChange: true})
	}
	return candidates
}

// reacted tells whether the operator did anything about a change: to another object, or to the resource's status beside
// that it has observed the generation.
func (s subject) reacted(field string) func(explore.Observation) (string, bool) {
	resource := s.sample.Resource
	key := resource.GroupVersionKind().GroupKind().String() + "/" + resource.GetName()
	return func(observed explore.Observation) (string, bool) {
		before, after := observed.States[0], observed.States[1]
		return "the operator does not react to spec." + field, !reflect.DeepEqual(effects(before, key), effects(after, key))
	}
}

// effects are a state without what the user writes into the resource, and what every operator writes into its status.
func effects(state oracle.Snapshot, resource string) map[string]any {
	effects := map[string]any{}
	for key, text := range state {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			effects[key] = text
			continue
		}
		if key == resource {
			effects[key] = withoutGenerations(object["status"])
			continue
		}
		effects[key] = object
	}
	return effects
}

func withoutGenerations(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, field := range value {
			if !strings.HasSuffix(strings.ToLower(key), "generation") {
				kept[key] = withoutGenerations(field)
			}
		}
		return kept
	case []any:
		var kept []any
		for _, element := range value {
			kept = append(kept, withoutGenerations(element))
		}
		return kept
	}
	return value
}

// deletions are a scenario for one child of each kind.
func (s subject) deletions(observed explore.Observation) []candidate {
	var candidates []candidate
	seen := map[string]bool{}
	for _, child := range observed.Children {
		kind := strings.ToLower(child.Kind.Kind)
		if seen[kind] {
			continue
		}
		seen[kind] = true
		remove := deleteStep(child.Kind.GroupVersion().String(), child.Kind.Kind, child.Name)
		document := s.document("delete-"+kind, append(s.created(), remove, converged())...)
		about := fmt.Sprintf("delete the %s %s", child.Kind.Kind, child.Name)
		shows := func(again explore.Observation) (string, bool) {
			return "the operator does not create it again", len(again.States[1]) >= len(again.States[0])
		}
		candidates = append(candidates, candidate{Scenario: Scenario{document, about}, shows: shows})
	}
	return candidates
}

// try plays all candidates, and adds those that are worth keeping in their order.
func (s subject) try(ctx context.Context, candidates []candidate) {
	reasons := make([]string, len(candidates))
	var trying sync.WaitGroup
	for i, c := range candidates {
		trying.Go(func() { reasons[i] = s.whyNot(ctx, c) })
	}
	trying.Wait()
	if ctx.Err() != nil {
		return
	}
	changes := 0
	var unmoved, more []string
	for i, c := range candidates {
		_, name, _ := strings.Cut(c.Document.Name, "/")
		switch {
		case reasons[i] != "" && c.isChange && strings.HasPrefix(reasons[i], "the operator does not react"):
			unmoved = append(unmoved, strings.TrimPrefix(name, "change-"))
		case reasons[i] != "":
			s.invented.Left = append(s.invented.Left, c.Document.Name+": "+reasons[i])
		case c.isChange && changes == maxChanges && len(s.names) == 0:
			more = append(more, strings.TrimPrefix(name, "change-"))
		default:
			if c.isChange {
				changes++
			}
			s.invented.Scenarios = append(s.invented.Scenarios, c.Scenario)
		}
	}
	if len(more) > 0 {
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %d fields have a scenario, these have none: %s", s.prefix, maxChanges, strings.Join(more, ", ")))
	}
	if len(unmoved) > 0 {
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: the operator does not react to %s", s.prefix, strings.Join(unmoved, ", ")))
	}
}

// whyNot plays a candidate and returns why it is left out, in one line; empty if it is kept.
func (s subject) whyNot(ctx context.Context, c candidate) string {
	observed, err := s.observe(ctx, c.Document)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return strings.TrimPrefix(line, c.Document.Name+" ")
	}
	if c.shows == nil {
		return ""
	}
	if why, kept := c.shows(observed); !kept {
		return why
	}
	return ""
}
