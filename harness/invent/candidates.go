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
	// maxTriedFields limits the number of fields that are changed to test whether the operator reacts to them. The limit
	// is divided evenly among the samples, but each sample gets at least minTriedFields.
	maxTriedFields, minTriedFields = 40, 10
	// maxChanges is the maximum number of fields per sample that get their own scenario.
	maxChanges = 8
)

// candidate is a scenario that is kept if it converges and the function judge accepts it.
type candidate struct {
	Scenario
	// judge decides whether the scenario is useful. A nil judge accepts every scenario.
	judge func(explore.Observation) trial
	// change is the field that the scenario changes. It is empty for other scenarios.
	change string
	// child is the object that the scenario deletes, or nil.
	child *oracle.Child
	// other, if set, is the candidate to run if this one is not useful. It changes the same field to another value, or
	// deletes the child by a name pattern, because the operator may generate the name.
	other *candidate
}

type trial struct {
	why      string // reason why the candidate is skipped; empty if it is kept
	reacted  string // the objects that the operator changed in response to the change
	denied   bool   // the API server rejected the user's change
	refused  bool   // the API server rejected the operator's requests after the change
	isBug    bool   // a lost child is a bug if the operator recreates other children
	observed explore.Observation
	other    *candidate // candidate.other, if it was run instead
}

// changes returns a candidate for each field that can be changed according to the schema, up to s.fields.
func (s subject) changes(created explore.Observation) []candidate {
	resource := s.sample.Resource
	spec, _ := resource.Object["spec"].(map[string]any)
	schema, err := specgen.New(s.sample.CRD, resource.GroupVersionKind().Version)
	if err != nil || spec == nil {
		return nil // without a spec there are no fields to change
	}
	judge := func(observed explore.Observation) trial { return s.reaction(created, observed) }
	var candidates []candidate
	for transition := range schema.Transitions(spec, 2) {
		changed := resource.DeepCopy()
		changed.Object["spec"] = transition.To
		field := strings.TrimPrefix(transition.Field, "spec.")
		document := s.document("change-"+field, append(s.created(), applyStep(changed), converged(), applyStep(resource), converged())...)
		c := candidate{Scenario: Scenario{Document: document, About: transition.String() + ", and back"}, judge: judge, change: field}
		if last := len(candidates) - 1; last >= 0 && candidates[last].change == field {
			if transition.Retriable {
				candidates[last].other = &c
			}
			continue
		}
		if len(candidates) == s.fields {
			s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: more than %d fields can be changed; the remaining fields were not tried", s.prefix, s.fields))
			break
		}
		candidates = append(candidates, c)
	}
	return candidates
}

// reaction determines which objects changed after the sample was changed. If no object changed, but the API server
// rejected requests from the operator that it had not rejected before, reaction assumes that the new field value is
// invalid. It ignores requests that RBAC denied.
func (s subject) reaction(created, observed explore.Observation) trial {
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
		for _, request := range observed.Refused {
			isNew := !slices.ContainsFunc(created.Refused, func(before string) bool { return kindOf(before) == kindOf(request) })
			if isNew && !isMissingPermission.MatchString(request) {
				return trial{why: noValidValue}
			}
		}
		return trial{why: noReaction}
	}
	return trial{reacted: strings.Join(changed, " "), refused: len(observed.Refused) > 0}
}

// kindOf returns an entry of explore.Observation.Refused without its message, which may contain a random name.
func kindOf(refused string) string {
	kind, _, _ := strings.Cut(refused, ":")
	return kind
}

// isMissingPermission matches the entries of explore.Observation.Refused for requests that RBAC denied. RBAC does not
// check the object's content, so a denial says nothing about the new field value. It does not match the 403s of
// admission plugins and webhooks, which do check the content.
var isMissingPermission = regexp.MustCompile(`^[^:]*, 403: .* cannot [a-z]+ resource `)

// generation matches the status fields that change whenever the spec changes.
var generation = regexp.MustCompile(`(?i)generation($|[.[])`)

// effects returns the objects in a state. For the sample, it returns only the status, because the user writes the rest.
func effects(state oracle.Snapshot, resource string) map[string]any {
	effects := map[string]any{}
	for key, text := range state {
		var object map[string]any
		switch {
		case json.Unmarshal([]byte(text), &object) != nil:
			effects[key] = text
		case key == resource:
			effects[key] = object["status"]
		default:
			effects[key] = object
		}
	}
	return effects
}

// try runs all candidates and keeps the useful ones. Candidates that change a field are added last, because they are
// compared with each other after all of them have run.
func (s subject) try(ctx context.Context, play func(context.Context, candidate) trial, candidates []candidate) error {
	trials, stop := s.playAll(ctx, play, candidates)
	defer stop()
	tried := make([]trial, len(candidates))
	for i := range candidates {
		if tried[i] = <-trials[i]; ctx.Err() != nil {
			for j := range tried[i:] {
				tried[i+j] = trial{why: interrupted}
			}
			break
		}
		if tried[i].other != nil {
			candidates[i] = *tried[i].other
		}
		c := candidates[i]
		switch {
		case c.change != "", tried[i].why == notRecreated:
		case tried[i].why != "":
			s.invented.Left = append(s.invented.Left, c.Document.Name+": "+tried[i].why)
		default:
			if err := s.keep(c.Scenario, tried[i].observed); err != nil {
				return err
			}
		}
	}
	s.reportLost(ctx, play, candidates, tried)
	var chosen map[int]bool
	if ctx.Err() == nil {
		chosen = s.choose(candidates, tried)
	}
	return s.keepChanges(candidates, tried, chosen)
}

// triedAtOnce is the number of candidates that run concurrently for each CPU. It is about half of the explorer's
// parallelism, so that plans of accepted scenarios can run at the same time.
const triedAtOnce = 3

// playAll starts all candidates in order. stop cancels the remaining candidates and waits for those that are running.
func (s subject) playAll(ctx context.Context, play func(context.Context, candidate) trial, candidates []candidate) (trials []chan trial, stop func()) {
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
				trials[i] <- play(ctx, candidates[i])
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

// keepChanges keeps the chosen changes and records why the other fields have no scenario.
func (s subject) keepChanges(candidates []candidate, trials []trial, chosen map[int]bool) error {
	const denied = "the API server or a webhook rejects changes to"
	more := fmt.Sprintf("%d fields have a scenario; these fields have no scenario:", maxChanges)
	fields := map[string][]string{} // by reason
	for i, c := range candidates {
		t := trials[i]
		switch {
		case t.why == interrupted:
			fields[t.why] = append(fields[t.why], strings.TrimPrefix(c.Document.Name, s.prefix+"/"))
		case c.change == "", t.why == noReaction && s.isIgnored:
		case t.denied:
			fields[denied] = append(fields[denied], c.change)
		case t.why == noReaction, t.why == noValidValue:
			fields[t.why] = append(fields[t.why], c.change)
		case t.why != "":
			s.invented.Left = append(s.invented.Left, c.Document.Name+": "+t.why)
		case chosen[i]:
			if err := s.keep(c.Scenario, t.observed); err != nil {
				return err
			}
		case len(chosen) > 0:
			fields[more] = append(fields[more], c.change)
		}
	}
	for _, why := range []string{more, denied, noValidValue, noReaction, interrupted} {
		if len(fields[why]) > 0 {
			s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %s %s", s.prefix, why, strings.Join(fields[why], ", ")))
		}
	}
	return nil
}

// choose returns the indexes of the changes to keep: at most maxChanges, unless names were given. It first takes one
// change for each set of objects that the operator updates in response. Changes that caused the API server to reject
// the operator's requests come last, because the new field value may be meaningless.
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

// Reasons for skipping a change. The names of the changed fields are appended.
const (
	noReaction   = "the operator does not react to"
	noValidValue = "no valid value found: the API server rejects the operator's requests after a change to"
)

// play runs a candidate and returns its result. If the change has no effect, play also runs c.other and returns the
// more useful result. If the child to delete does not exist in this run, play returns the result of c.other.
func (s subject) play(ctx context.Context, c candidate) trial {
	var t trial
	observed, err := s.observe(ctx, c.Document)
	switch {
	case err != nil:
		t = c.failed(err)
	case c.judge != nil:
		t = c.judge(observed)
	}
	if t.why == "" {
		t.observed = observed
	}
	isUnnamed := c.isUnnamed(err)
	if c.other == nil || !isUnnamed && !t.hasNoEffect() {
		return t
	}
	other := s.play(ctx, *c.other)
	if !isUnnamed && !other.isMoreUseful(t) {
		return t
	}
	other.other = c.other
	return other
}

// isMoreUseful reports whether t should be returned instead of an earlier trial, which had no effect. It returns true
// if t had an effect, or if the API server rejected requests during the earlier trial.
func (t trial) isMoreUseful(first trial) bool { return !t.hasNoEffect() || first.why != noReaction }

func (t trial) hasNoEffect() bool { return t.denied || t.why == noValidValue || t.why == noReaction }

// isUnnamed reports whether a candidate failed because no child has the given name.
func (c candidate) isUnnamed(err error) bool {
	if err == nil || c.child == nil {
		return false
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.HasSuffix(line, "not found")
}

func (c candidate) failed(err error) trial {
	if c.isUnnamed(err) {
		return trial{why: fmt.Sprintf("the %s %s does not exist in another run: its name may be random, or the operator may not always create it", c.child.Kind.Kind, c.child.Name)}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return trial{why: strings.TrimPrefix(line, c.Document.Name+" "), denied: c.change != "" && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err))}
}
