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
	"github.com/operator-assay/assay/test/harness/scenario"
)

// reference is what a scenario comes to without any fault.
type reference struct {
	end            oracle.Snapshot
	nondeterminism oracle.Nondeterminism // what differs between two runs
	writes         []faultinject.Write   // those that both runs made
	reads          []faultinject.RequestKey
	watched        []watchedResource
	// counts are how often the operator created and deleted each object; -1 where two runs differ.
	counts map[string]int
	polls  bool
}

// watchedResource is a resource as the operator watches it, and the last of the scenario's actions, counted from 1, after
// which something happens there.
type watchedResource struct {
	target     string
	lastAction int
}

// learnScenario plays a scenario twice without any fault.
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
	ref.end, ref.nondeterminism = one.end, oracle.FindNondeterminism(one.end, two.end)
	if ref.nondeterminism.Renamed != "" {
		return nil, fmt.Errorf("%s cannot be played twice: %s: have the API server make up a name that may differ (generateName)", s.Name, ref.nondeterminism.Renamed)
	}
	ref.writes, ref.counts = inBoth(one.writes, two.writes), one.counts
	for what := range union(one.counts, two.counts) {
		if one.counts[what] != two.counts[what] {
			ref.counts[what] = -1
		}
	}
	again := second.injector.RequestCounts()
	for point, count := range first.injector.RequestCounts() {
		point.Nth = min(count, again[point])
		switch {
		case point.Nth == 0:
		case point.Verb == "get" || point.Verb == "list":
			ref.reads = append(ref.reads, point)
		case point.Verb == "watch":
			if last := e.lastChange(point.Target, first.actionStarts, one.history); last > 0 {
				ref.watched = append(ref.watched, watchedResource{point.Target, last})
			}
		}
	}
	slices.SortFunc(ref.reads, byName)
	slices.SortFunc(ref.watched, func(a, b watchedResource) int { return strings.Compare(a.target, b.target) })
	ref.watched = slices.Compact(ref.watched) // a resource may be watched in several ways
	return ref, nil
}

// inBoth leaves out the writes that the operator makes now and then, such as one status more on the way:
// a fault that is to befall one of these would often befall nothing. Their order is not the operator's, which
// may do two things at once.
func inBoth(one, two []faultinject.Write) []faultinject.Write {
	both := slices.DeleteFunc(slices.Clone(one), func(write faultinject.Write) bool {
		return !slices.ContainsFunc(two, func(other faultinject.Write) bool { return other.RequestKey == write.RequestKey })
	})
	slices.SortFunc(both, func(a, b faultinject.Write) int { return byName(a.RequestKey, b.RequestKey) })
	return both
}

func byName(a, b faultinject.RequestKey) int { return strings.Compare(a.String(), b.String()) }

// baseline is an outcome with what the operator did for it.
type baseline struct {
	outcome
	writes []faultinject.Write
	counts map[string]int
}

// runWithoutFault plays a scenario without any fault. If the operator turns out to ask without end, that is
// noted, and it plays again.
func (e *Explorer) runWithoutFault(ctx context.Context, s scenario.Scenario, ref *reference) (*run, baseline, error) {
	r, end, err := e.run(ctx, s, faultinject.Fault{}, ref)
	switch {
	case err != nil:
		return nil, baseline{}, err
	case errors.Is(errors.Join(end.steps, end.unstable), record.ErrNotIdle) && !ref.polls:
		ref.polls = true
		if e.Progress != nil {
			fmt.Fprintf(e.Progress, "%s: the operator asks without end, so only its writes are a sign of work\n", s.Name)
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

// hints are what may tell why a scenario does not work: what the API server refuses, and what the operator says.
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

// counts tells how often each object was created and deleted by the operator.
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

// lastChange tells after which action of a run, counted from 1, objects of a resource change for the last time;
// 0 if they do after none. acts say how long the history was at each.
func (e *Explorer) lastChange(target string, acts []int, history []record.ObjectVersion) int {
	for i, before := range slices.Backward(acts) {
		if e.changes(target, history[before:]) {
			return i + 1
		}
	}
	return 0
}

// changes tells whether objects of a resource, such as "deployments.apps", are part of a history.
func (e *Explorer) changes(target string, history []record.ObjectVersion) bool {
	kind, known := e.kinds[schema.ParseGroupResource(target)]
	return known && slices.ContainsFunc(history, func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == kind
	})
}
