package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/oracle"
)

// The oracles, by the names under which a result tells of them.
const (
	Converges  = "converges"       // every step of the scenario comes about
	Stable     = "stable"          // then nothing is changed and nothing asked any more
	Reference  = "reference"       // the end is that of the run without a fault
	Counts     = "counts"          // nothing was created or deleted more often, or less, than there
	Invariants = "invariants"      // what must always hold, did
	Retries    = "bounded-retries" // no request was repeated in a hot loop
)

// Finding is what an oracle has to say against an operator.
type Finding struct {
	Oracle  string `json:"oracle"`
	Message string `json:"message"`
}

// Result is what became of a plan.
type Result struct {
	Plan
	// Triggered tells whether the fault befell the operator. A run may leave out a request that another
	// made; then it proved nothing.
	Triggered bool
	// Findings are the failures; none: the operator has passed.
	Findings []Finding
	// Timeline are the requests around the fault; empty for a plan that passed.
	Timeline string
	// Log is the end of the operator's log; empty for a plan that passed.
	Log string
	// Requests is how many the operator made.
	Requests int
	Duration time.Duration
}

// judge plays a plan and asks all oracles.
func (e *Explorer) judge(ctx context.Context, plan Plan) Result {
	result := Result{Plan: plan}
	say := func(who string, err error) {
		if err != nil {
			result.Findings = append(result.Findings, Finding{who, err.Error()})
		}
	}
	ref := e.reference(plan.Scenario)
	r, end, err := e.run(ctx, e.scenario(plan.Scenario), plan.Fault, ref)
	if err != nil {
		say(Converges, err)
		return result
	}
	requests := r.injector.Requests.Requests()
	say(Converges, end.steps)
	say(Stable, end.unstable)
	say(Reference, end.difference)
	if end.steps == nil {
		say(Counts, ref.count(counts(r.injector.Writes()), plan.Fault))
	}
	say(Invariants, e.invariants(plan.Fault, end))
	say(Retries, oracle.BoundedRetries(requests))

	result.Triggered, result.Requests, result.Duration = !r.injector.TriggeredAt().IsZero(), len(requests), r.duration
	if len(result.Findings) > 0 {
		result.Timeline = timeline(requests, r.injector.TriggeredAt(), plan)
		result.Log = end.log
	}
	return result
}

// invariants asks those of the options, if there are any.
func (e *Explorer) invariants(fault faultinject.Fault, end outcome) error {
	if e.Invariants == nil {
		return nil
	}
	return e.Invariants(fault.Type.Category(), end.history)
}

// compare tells how an end differs from the reference's, if that is known yet.
func (ref *reference) compare(end oracle.Snapshot) error {
	if ref.end == nil {
		return nil
	}
	if diff := oracle.Diff(ref.nondeterminism.Normalize(ref.end), ref.nondeterminism.Normalize(end)); diff != "" {
		return fmt.Errorf("the end is another than without the fault:\n%s", diff)
	}
	return nil
}

// count tells which objects were created or deleted more or less often than in the reference. A deposed
// leader's create that arrives when its object has gone makes it once more: that no precondition can
// forbid, and the garbage collector takes it away again.
func (ref *reference) count(got map[string]int, fault faultinject.Fault) error {
	var amiss []string
	for _, what := range slices.Sorted(maps.Keys(union(ref.counts, got))) {
		want, times := ref.counts[what], got[what]
		if fault.Type == faultinject.DelayedWrite && what == ref.creates(fault.At) && times == want+1 {
			continue
		}
		if want >= 0 && times != want {
			amiss = append(amiss, fmt.Sprintf("%s %d times, not %d as without the fault", what, times, want))
		}
	}
	if len(amiss) == 0 {
		return nil
	}
	return errors.New(strings.Join(amiss, "; "))
}

// creates says what a request creates; nothing of an object whose name the API server makes up: two of these
// stay two.
func (ref *reference) creates(point faultinject.RequestKey) string {
	i := slices.IndexFunc(ref.writes, func(write faultinject.Write) bool { return write.RequestKey == point })
	if i < 0 || strings.HasSuffix(ref.writes[i].Object, "*") {
		return ""
	}
	return created(point.Target, ref.writes[i].Object)
}
