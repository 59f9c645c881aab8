package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/record"
	"github.com/operator-assay/assay/test/harness/report/results"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// reference is what a scenario does without a fault.
type reference struct {
	final       expected
	checkpoints []expected          // at each step that waits for convergence
	writes      []faultinject.Write // those that both runs made
	targets     []faultinject.Write // those of them at which faults are planned
	reads       []faultinject.RequestKey
	watched     []watchedResource
	// counts are how often the operator created and deleted each object; -1 where the two runs differ.
	counts map[string]int
	polls  bool
	// run is what happened in the first run, and secrets what must not be shown of both.
	run     *results.Run
	secrets redactor
}

// expected is a state that later runs must reach.
type expected struct {
	state          oracle.Snapshot
	nondeterminism oracle.Nondeterminism // what differs between two runs
}

// expect learns a state from two runs.
func expect(one, two oracle.Snapshot) (expected, error) {
	both := expected{one, oracle.FindNondeterminism(one, two)}
	if both.nondeterminism.Renamed != "" {
		return expected{}, fmt.Errorf("%s: let the API server generate a name that may differ (generateName)", both.nondeterminism.Renamed)
	}
	return both, nil
}

// diff returns how a state differs; empty if it does not.
func (e expected) diff(state oracle.Snapshot) string {
	return oracle.Diff(e.nondeterminism.Normalize(e.state), e.nondeterminism.Normalize(state))
}

// watchedResource is a resource that the operator watches, with the actions of the scenario, counted from 1, after
// which one of its objects changed before the next action.
type watchedResource struct {
	target  string
	actions []int
}

// lastAction is the last action that is followed by a change.
func (w watchedResource) lastAction() int { return w.actions[len(w.actions)-1] }

// learnScenario plays a scenario twice without a fault.
func (e *Explorer) learnScenario(ctx context.Context, s scenario.Scenario) (*reference, error) {
	ref := &reference{}
	first, one, err := e.runWithoutFault(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	second, two, err := e.runWithoutFault(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	for i := range first.checkpoints {
		checkpoint, err := expect(first.checkpoints[i], second.checkpoints[i])
		if err != nil {
			return nil, fmt.Errorf("%s cannot be played twice: %w", s.Name, err)
		}
		ref.checkpoints = append(ref.checkpoints, checkpoint)
	}
	if ref.final, err = expect(one.end, two.end); err != nil {
		return nil, fmt.Errorf("%s cannot be played twice: %w", s.Name, err)
	}
	covered := func(key faultinject.RequestKey) bool {
		nth := key.Nth
		key.Nth = 0
		return nth <= min(first.covered[key], second.covered[key])
	}
	ref.writes, ref.counts = inBoth(one.writes, two.writes), one.counts
	ref.targets = slices.DeleteFunc(slices.Clone(ref.writes), func(write faultinject.Write) bool { return covered(write.RequestKey) })
	for what := range union(one.counts, two.counts) {
		if one.counts[what] != two.counts[what] {
			ref.counts[what] = -1
		}
	}
	ref.secrets = newRedactor(one.history).and(newRedactor(two.history))
	ref.run = first.timeline(one.history, ref.secrets)
	again := second.injector.RequestCounts()
	for key, count := range first.injector.RequestCounts() {
		key.Nth = min(count, again[key])
		switch {
		case key.Nth == 0, key.Verb != "watch" && covered(key):
		case strings.HasPrefix(key.Target, "/"): // health, the API server's version, discovery
		case key.Verb == "get" || key.Verb == "list":
			ref.reads = append(ref.reads, key)
		case key.Verb == "watch":
			if actions := e.actionsThatChange(key.Target, first.actionStarts, one.history); len(actions) > 0 {
				ref.watched = append(ref.watched, watchedResource{key.Target, actions})
			}
		}
	}
	slices.SortFunc(ref.reads, byName)
	slices.SortFunc(ref.watched, func(a, b watchedResource) int { return strings.Compare(a.target, b.target) })
	ref.watched = slices.CompactFunc(ref.watched, func(a, b watchedResource) bool { return a.target == b.target }) // one may be watched in several ways
	return ref, nil
}

// inBoth leaves out the writes that only one run made, such as an intermediate status: a fault at one of these would
// often not trigger. The writes are sorted, because an operator that works in parallel has no fixed order.
func inBoth(one, two []faultinject.Write) []faultinject.Write {
	both := slices.DeleteFunc(slices.Clone(one), func(write faultinject.Write) bool {
		return !slices.ContainsFunc(two, func(other faultinject.Write) bool { return other.RequestKey == write.RequestKey })
	})
	slices.SortFunc(both, func(a, b faultinject.Write) int { return byName(a.RequestKey, b.RequestKey) })
	return both
}

func byName(a, b faultinject.RequestKey) int { return strings.Compare(a.String(), b.String()) }

// baseline is an outcome with the operator's writes.
type baseline struct {
	outcome
	writes []faultinject.Write
	counts map[string]int
}

// runWithoutFault plays a scenario without a fault. If the operator polls, it notes that and plays the scenario
// again.
func (e *Explorer) runWithoutFault(ctx context.Context, s scenario.Scenario, ref *reference) (*run, baseline, error) {
	r, end, err := e.run(ctx, s, faultinject.Fault{}, ref)
	switch {
	case err != nil:
		return nil, baseline{}, err
	case errors.Is(errors.Join(end.steps, end.unstable), record.ErrNotIdle) && !ref.polls:
		ref.polls = true
		if e.Progress != nil && slices.ContainsFunc(e.Scenarios, func(known scenario.Scenario) bool { return known.Name == s.Name }) {
			fmt.Fprintf(e.Progress, "%s: the operator polls, so only its writes count as activity\n", s.Name)
		}
		return e.runWithoutFault(ctx, s, ref)
	case end.steps != nil:
		return nil, baseline{}, fmt.Errorf("%s fails without any fault: %w\n%s", s.Name, end.steps, r.hints(end))
	case end.unstable != nil:
		return nil, baseline{}, fmt.Errorf("%s never converges without any fault: %w\n%s", s.Name, end.unstable, r.hints(end))
	}
	if err := errors.Join(e.invariants(faultinject.Fault{}, end), oracle.BoundedRetries(r.injector.Requests.Requests())); err != nil {
		return nil, baseline{}, fmt.Errorf("%s fails without any fault: %w", s.Name, err)
	}
	writes := r.injector.Writes()
	return r, baseline{end, writes, counts(writes)}, nil
}

// hints collects what may explain why a scenario fails without a fault: error responses and the operator's log.
func (r *run) hints(end outcome) string {
	var hints strings.Builder
	refused := r.injector.Requests.Requests(func(request record.Request) bool {
		return request.Status >= 400 && request.Status != http.StatusNotFound && request.Status != http.StatusConflict
	})
	for _, request := range refused[max(0, len(refused)-logTailLines):] {
		fmt.Fprintln(&hints, "refused:", request)
	}
	return hints.String() + end.log
}

// counts returns how often the operator created and deleted each object.
func counts(writes []faultinject.Write) map[string]int {
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

// actionsThatChange returns the actions of a run, counted from 1, after which objects of a resource changed. starts are
// the lengths of the history before each action.
func (e *Explorer) actionsThatChange(target string, starts []int, history []record.ObjectVersion) []int {
	var actions []int
	for i, begin := range starts {
		end := len(history)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if e.changes(target, history[begin:end]) {
			actions = append(actions, i+1)
		}
	}
	return actions
}

// changes tells whether a history contains objects of a resource, such as "deployments.apps".
func (e *Explorer) changes(target string, history []record.ObjectVersion) bool {
	kind, known := e.kinds[schema.ParseGroupResource(target)]
	return known && slices.ContainsFunc(history, func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == kind
	})
}
