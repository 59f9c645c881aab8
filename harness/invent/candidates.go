package invent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/specgen"
)

const (
	// maxTriedFields is how many fields of all samples are changed to see whether the operator reacts, and
	// minTriedFields how many of each at least.
	maxTriedFields, minTriedFields = 40, 10
	// maxChanges is how many fields get a scenario of their own.
	maxChanges = 8
)

// candidate is a scenario that is kept if it converges and shows something.
type candidate struct {
	Scenario
	// judge tells whether the scenario is worth keeping; nil if it always is.
	judge func(explore.Observation) trial
	// change is the field that the scenario changes; empty if it changes none. Only maxChanges of these are kept.
	change string
}

// trial is what became of a candidate.
type trial struct {
	why     string // it is left out; empty if it is kept
	reacted string // the objects that the operator changed after the scenario's change
	denied  bool   // the API server denied the user the change
	refused bool   // the API server refused what the operator made of the change
	// observed is what came of playing it.
	observed explore.Observation
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
		if len(candidates) == s.fields {
			s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: more than %d fields can change: the others were not tried", s.prefix, s.fields))
			break
		}
		changed := resource.DeepCopy()
		changed.Object["spec"] = variation.To
		field := strings.TrimPrefix(variation.Changed[0], "spec.")
		document := s.document("change-"+field, append(s.created(), applyStep(changed), converged(), applyStep(resource), converged())...)
		candidates = append(candidates, candidate{Scenario: Scenario{Document: document, About: variation.String() + ", and back"}, judge: s.reaction, change: field})
	}
	return candidates
}

// reaction tells what the operator did about a change: to other objects, or to the resource's status beside that it has
// observed the generation.
func (s subject) reaction(observed explore.Observation) trial {
	resource := s.sample.Resource
	key := resource.GroupVersionKind().GroupKind().String() + "/" + resource.GetName()
	before, after := effects(observed.States[0], key), effects(observed.States[1], key)
	var changed []string
	for _, object := range slices.Sorted(maps.Keys(after)) {
		tells := func(field diff.Field) bool { return object != key || !generation.MatchString(field.Path) }
		if slices.ContainsFunc((diff.Comparison{}).Fields("", before[object], after[object]), tells) {
			changed = append(changed, object)
		}
		delete(before, object)
	}
	changed = append(changed, slices.Sorted(maps.Keys(before))...)
	if len(changed) == 0 {
		return trial{why: noReaction}
	}
	return trial{reacted: strings.Join(changed, " "), refused: len(observed.Refused) > 0}
}

// generation matches what every operator writes into the status.
var generation = regexp.MustCompile(`(?i)generation($|[.[])`)

// effects are a state without what the user writes into the resource.
func effects(state oracle.Snapshot, resource string) map[string]any {
	effects := map[string]any{}
	for key, text := range state {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			effects[key] = text
			continue
		}
		if key == resource {
			effects[key] = object["status"]
			continue
		}
		effects[key] = object
	}
	return effects
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
		judge := func(again explore.Observation) trial {
			if len(again.States[1]) < len(again.States[0]) {
				return trial{why: "the operator does not create it again"}
			}
			return trial{}
		}
		candidates = append(candidates, candidate{Scenario: Scenario{Document: document, About: about}, judge: judge})
	}
	return candidates
}

// try plays all candidates, and keeps those that are worth it in their order. Changes come last: all are known before some are
// chosen.
func (s subject) try(ctx context.Context, candidates []candidate) error {
	trials, stop := s.playAll(ctx, candidates)
	defer stop()
	tried := make([]trial, len(candidates))
	for i, c := range candidates {
		if tried[i] = <-trials[i]; ctx.Err() != nil {
			return nil
		}
		switch {
		case c.change != "":
		case tried[i].why != "":
			s.invented.Left = append(s.invented.Left, c.Document.Name+": "+tried[i].why)
		default:
			if err := s.keep(c.Scenario, tried[i].observed); err != nil {
				return err
			}
		}
	}
	return s.keepChanges(candidates, tried)
}

// triedAtOnce is how many candidates are played at once, for each CPU: about half of what an explorer plays, so that plans of
// scenarios that are found are played meanwhile.
const triedAtOnce = 3

// playAll plays all candidates, the first ones first. stop waits until none is played.
func (s subject) playAll(ctx context.Context, candidates []candidate) (trials []chan trial, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	for range candidates {
		trials = append(trials, make(chan trial, 1))
	}
	var trying sync.WaitGroup
	var next, done atomic.Int64
	log := s.explorer.Log("invent")
	for range triedAtOnce * runtime.GOMAXPROCS(0) {
		trying.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(candidates); i = int(next.Add(1)) - 1 {
				trials[i] <- s.play(ctx, candidates[i])
				log.Status(fmt.Sprintf("%s: %d of %d scenarios tried", s.prefix, done.Add(1), len(candidates)))
			}
		})
	}
	return trials, func() {
		cancel()
		trying.Wait()
		log.Status("")
	}
}

// keepChanges keeps the changes that are chosen, and tells of the others.
func (s subject) keepChanges(candidates []candidate, trials []trial) error {
	chosen := s.choose(candidates, trials)
	var unmoved, denied, more []string
	for i, c := range candidates {
		switch {
		case c.change == "":
		case trials[i].why == noReaction:
			unmoved = append(unmoved, c.change)
		case trials[i].denied:
			denied = append(denied, c.change)
		case trials[i].why != "":
			s.invented.Left = append(s.invented.Left, c.Document.Name+": "+trials[i].why)
		case !chosen[i]:
			more = append(more, c.change)
		default:
			if err := s.keep(c.Scenario, trials[i].observed); err != nil {
				return err
			}
		}
	}
	if len(more) > 0 {
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %d fields have a scenario, these have none: %s", s.prefix, maxChanges, strings.Join(more, ", ")))
	}
	if len(denied) > 0 {
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: the API server or a webhook denies a change of %s", s.prefix, strings.Join(denied, ", ")))
	}
	if len(unmoved) > 0 {
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %s %s", s.prefix, noReaction, strings.Join(unmoved, ", ")))
	}
	return nil
}

// choose returns which changes are kept, by their index: first those after which the operator changed other objects than
// after earlier ones, and last those to a value of which the operator made what the API server refuses: an invented one may
// mean nothing. All are that were asked for by name.
func (s subject) choose(candidates []candidate, trials []trial) map[int]bool {
	chosen, seen := map[int]bool{}, map[string]bool{}
	for _, wanted := range []func(trial) bool{
		func(t trial) bool { return !t.refused && !seen[t.reacted] },
		func(t trial) bool { return !t.refused },
		func(trial) bool { return true },
	} {
		for i, c := range candidates {
			full := len(chosen) == maxChanges && len(s.names) == 0
			if c.change == "" || trials[i].why != "" || full || !wanted(trials[i]) {
				continue
			}
			chosen[i], seen[trials[i].reacted] = true, true
		}
	}
	return chosen
}

// noReaction is why a change is left out.
const noReaction = "the operator does not react to"

// play plays a candidate. Why it is left out is one line.
func (s subject) play(ctx context.Context, c candidate) trial {
	observed, err := s.observe(ctx, c.Document)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return trial{why: strings.TrimPrefix(line, c.Document.Name+" "), denied: c.change != "" && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err))}
	}
	var t trial
	if c.judge != nil {
		t = c.judge(observed)
	}
	if t.why == "" {
		t.observed = observed
	}
	return t
}
