package explore

import (
	"context"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/report/results"
)

// The oracles, by the names that findings print.
const (
	Converges  = "converges"       // every step of the scenario succeeds
	Late       = "late"            // every step succeeds in time
	Stable     = "stable"          // after the last step nothing changes, and the operator sends no request
	Reference  = "reference"       // the final state equals the reference
	Counts     = "counts"          // no object was created or deleted more often than in the reference
	Invariants = "invariants"      // every version satisfies Options.Invariants
	Retries    = "bounded-retries" // no request was repeated in a hot loop
	Panics     = "panics"          // the operator's log tells of no panic that does not come without a fault, too
)

// Finding is what an oracle objects to.
type Finding = results.Finding

// Result is the outcome of a plan.
type Result struct {
	Plan
	// Triggered tells whether the fault applied, and of a pair both. A run may not send a request that the reference sent;
	// then it proves nothing.
	Triggered bool
	// NeedsBoth tells of a pair that failed that the scenario passes with each of its faults alone.
	NeedsBoth bool
	// Findings are the failures; none if the plan passed.
	Findings []Finding
	// Confirmation is how often the failure came again; nil if Confirm did not choose it, or does not know yet.
	Confirmation *results.Confirmation
	// stale tells that the run was not where the reference is from, so that the result says nothing.
	stale bool
	// trial is what confirms it, or has; nil if Confirm did not choose it.
	trial *trial
	// Run is what happened, if the plan failed, or is the first of its scenario and fault type that passed.
	Run *results.Run
	// Requests is how many requests the operator sent.
	Requests int
	Duration time.Duration
	// difference is what Reference objects to, but for one that was awaited.
	difference *difference
	// triggers are the faults that applied, and aftermath the writes that followed the first.
	triggers  []fault.Trigger
	aftermath []fault.RequestKey
}

// Passed tells whether no oracle has a finding.
func (r Result) Passed() bool { return len(r.Findings) == 0 }

// judge plays a plan and asks all oracles.
func (e *Explorer) judge(ctx context.Context, plan Plan, how conditions) Result {
	result := Result{Plan: plan}
	ref := e.reference(plan.Scenario)
	hide := ref.secrets
	say := func(who string, err error) {
		if err != nil {
			result.Findings = append(result.Findings, Finding{Oracle: who, Message: hide.text(err.Error())})
		}
	}
	r, end, err := e.run(ctx, attempt{e.scenario(plan.Scenario), plan.Fault, plan.Then, ref, how})
	if err != nil {
		say(Converges, err)
		return result
	}
	if result.stale = r.at.alone != ref.alone; result.stale {
		return result
	}
	hide = hide.and(newRedactor(end.history, e.Public))
	requests := r.injector.Requests.Requests()
	result.triggers, result.aftermath = r.injector.Triggers(), r.injector.Aftermath()
	say(Panics, e.panicked(plan, r.log.text(), hide))
	say(Converges, end.steps)
	if len(result.triggers) > 0 { // what was late before is not the fault's doing
		say(Late, r.late)
	} else {
		say(Late, r.lateBefore)
	}
	say(Stable, end.unstable)
	say(Reference, end.difference)
	if end.difference != nil && !r.cameIn {
		result.difference = &difference{r.expects(end), end.end}
	}
	if end.steps == nil && !end.stopped && !plan.has(fault.Replaced) { // which creates twice
		say(Counts, ref.count(e.counts(ref, r.injector.Writes()), result.triggers))
	}
	say(Invariants, e.invariants(plan, end))
	if ref.loop == nil {
		say(Retries, oracle.BoundedRetries(requests))
	}

	result.Triggered = len(result.triggers) > 0 && (len(result.triggers) == 2 || !plan.isPair())
	result.Requests, result.Duration = len(requests), r.duration
	if !result.Passed() || e.isFirst(plan) {
		result.Run = r.timeline(end.history, hide)
	}
	return result
}

// expects is the state that a run with this end should have had.
func (r *run) expects(end outcome) *expected {
	if end.stopped {
		return r.against.checkpoints[len(r.checkpoints)]
	}
	return r.against.final
}

// isFirst tells whether it is asked for a plan's scenario and fault type for the first time.
func (e *Explorer) isFirst(plan Plan) bool {
	key := Plan{plan.Scenario, fault.Fault{Type: plan.Fault.Type}, fault.Fault{Type: plan.Then.Type}}
	_, known := e.sampled.LoadOrStore(key, true)
	return !known
}

// invariants applies Options.Invariants, if there are any. Under a pair must hold what holds under both of its faults.
func (e *Explorer) invariants(plan Plan, end outcome) error {
	if e.Invariants == nil {
		return nil
	}
	err := e.Invariants(plan.Fault.Category(), end.history)
	if err != nil && plan.isPair() {
		err = e.Invariants(plan.Then.Category(), end.history)
	}
	return err
}
