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

	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// reference is what a scenario comes to without any fault.
type reference struct {
	end    oracle.Snapshot
	varies oracle.Variation // what differs between two runs
	writes []faults.Write   // those that both runs made
	reads  []faults.Point
	views  []view
	// counts are how often the operator created and deleted each object; -1 where two runs differ.
	counts map[string]int
	polls  bool
}

// view is a resource as the operator watches it, and the last of the scenario's actions, counted from 1, after
// which something happens there.
type view struct {
	target string
	last   int
}

// learnOne plays a scenario twice without any fault.
func (e *Explorer) learnOne(ctx context.Context, story scenario.Scenario) (*reference, error) {
	ref := &reference{}
	first, one, err := e.faultless(ctx, story, ref)
	if err != nil {
		return nil, err
	}
	second, two, err := e.faultless(ctx, story, ref)
	if err != nil {
		return nil, err
	}
	ref.end, ref.varies = one.end, oracle.Compare(one.end, two.end)
	if ref.varies.Renamed != "" {
		return nil, fmt.Errorf("%s cannot be played twice: %s: have the API server make up a name that may differ (generateName)", story.Name, ref.varies.Renamed)
	}
	ref.writes, ref.counts = inBoth(one.writes, two.writes), one.counts
	for what := range union(one.counts, two.counts) {
		if one.counts[what] != two.counts[what] {
			ref.counts[what] = -1
		}
	}
	again := second.wire.Points()
	for point, count := range first.wire.Points() {
		point.Nth = min(count, again[point])
		switch {
		case point.Nth == 0:
		case point.Verb == "get" || point.Verb == "list":
			ref.reads = append(ref.reads, point)
		case point.Verb == "watch":
			if last := e.lastMoving(point.Target, first.acts, one.history); last > 0 {
				ref.views = append(ref.views, view{point.Target, last})
			}
		}
	}
	slices.SortFunc(ref.reads, byName)
	slices.SortFunc(ref.views, func(a, b view) int { return strings.Compare(a.target, b.target) })
	ref.views = slices.Compact(ref.views) // a resource may be watched in several ways
	return ref, nil
}

// inBoth leaves out the writes that the operator makes now and then, such as one status more on the way:
// a fault that is to befall one of these would often befall nothing. Their order is not the operator's, which
// may do two things at once.
func inBoth(one, two []faults.Write) []faults.Write {
	both := slices.DeleteFunc(slices.Clone(one), func(write faults.Write) bool {
		return !slices.ContainsFunc(two, func(other faults.Write) bool { return other.Point == write.Point })
	})
	slices.SortFunc(both, func(a, b faults.Write) int { return byName(a.Point, b.Point) })
	return both
}

func byName(a, b faults.Point) int { return strings.Compare(a.String(), b.String()) }

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
	case errors.Is(errors.Join(end.steps, end.restless), oracle.ErrNotSilent) && !ref.polls:
		ref.polls = true
		if e.Out != nil {
			fmt.Fprintf(e.Out, "%s: the operator asks without end, so only its writes are a sign of work\n", story.Name)
		}
		return e.faultless(ctx, story, ref)
	case end.steps != nil:
		return nil, faultlessOutcome{}, fmt.Errorf("%s fails without any fault: %w\n%s", story.Name, end.steps, r.hints(end))
	case end.restless != nil:
		return nil, faultlessOutcome{}, fmt.Errorf("%s never converges without any fault: %w\n%s", story.Name, end.restless, r.hints(end))
	}
	if err := errors.Join(e.invariants(faults.Fault{}, end), oracle.BoundedRetries(r.wire.Requests.Requests())); err != nil {
		return nil, faultlessOutcome{}, fmt.Errorf("%s fails without any fault: %w", story.Name, err)
	}
	writes := r.wire.Writes()
	return r, faultlessOutcome{end, writes, counts(writes)}, nil
}

// hints are what may tell why a scenario does not work: what the API server refuses, and what the operator says.
func (r *run) hints(end outcome) string {
	var hints strings.Builder
	refused := r.wire.Requests.Requests(func(request oracle.Request) bool {
		return request.Status >= 400 && request.Status != http.StatusNotFound && request.Status != http.StatusConflict
	})
	for _, request := range refused[max(0, len(refused)-lastWords):] {
		fmt.Fprintln(&hints, "refused:", request)
	}
	return hints.String() + end.log
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

// lastMoving tells after which action of a run, counted from 1, objects of a resource change for the last time;
// 0 if they do after none. acts say how long the history was at each.
func (e *Explorer) lastMoving(target string, acts []int, history []oracle.Version) int {
	for i, before := range slices.Backward(acts) {
		if e.moves(target, history[before:]) {
			return i + 1
		}
	}
	return 0
}

// moves tells whether objects of a resource, such as "deployments.apps", are part of a history.
func (e *Explorer) moves(target string, history []oracle.Version) bool {
	kind, known := e.kinds[schema.ParseGroupResource(target)]
	return known && slices.ContainsFunc(history, func(version oracle.Version) bool {
		return version.GroupVersionKind().GroupKind() == kind
	})
}
