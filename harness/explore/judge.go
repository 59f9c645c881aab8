package explore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// Result is the outcome of a plan.
type Result struct {
	Plan
	// Triggered tells whether the fault applied, and of a pair both. A run may not send a request that the reference sent;
	// then it proves nothing.
	Triggered bool
	// NeedsBoth tells of a pair that failed that the scenario passes with each of its faults alone.
	NeedsBoth bool
	// Findings are the failures; none if the plan passed.
	Findings []verdict.Finding
	// Confirmation is how often the failure came again; nil if Confirm did not choose it, or does not know yet.
	Confirmation *verdict.Confirmation
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
	r, end, err := e.run(ctx, attempt{e.scenario(plan.Scenario), plan.Fault, plan.Then, ref, how})
	if err != nil {
		result.Findings = []verdict.Finding{failedStep(stepError{"run starts", err}).Redact(hide.text)}
		return result
	}
	if result.stale = r.at.alone != ref.alone; result.stale {
		return result
	}
	hide = hide.and(newRedactor(end.history, e.Public))
	requests := r.injector.Requests.Requests()
	result.triggers, result.aftermath = r.injector.Triggers(), r.injector.Aftermath()
	if end.difference != nil && !r.cameIn {
		result.difference = &difference{r.expects(end), end.end}
	}
	withoutNamespace := strings.NewReplacer(r.namespace, "<namespace>").Replace
	for _, found := range e.findings(plan, r, end, result.triggers, hide) {
		result.Findings = append(result.Findings, found.Generalize(withoutNamespace).Redact(hide.text))
	}

	result.Triggered = len(result.triggers) > 0 && (len(result.triggers) == 2 || !plan.isPair())
	result.Requests, result.Duration = len(requests), r.duration
	if !result.Passed() || e.isFirst(plan) {
		result.Run = r.timeline(end.history, hide)
	}
	return result
}

// findings asks all oracles.
func (e *Explorer) findings(plan Plan, r *run, end outcome, triggers []fault.Trigger, hide redactor) []verdict.Finding {
	var found []verdict.Finding
	if panics := e.panicked(plan, r.log.text(), hide); len(panics) > 0 {
		found = append(found, verdict.FromPanics(panics))
	}
	if end.steps != nil {
		found = append(found, failedStep(end.steps))
	}
	late := r.late
	if len(triggers) == 0 { // the fault is not to blame for what was late before it
		late = r.lateBefore
	}
	if late != nil {
		found = append(found, *late)
	}
	if end.unstable != nil {
		found = append(found, verdict.FromRequests(end.unstable.Error(), r.injector.Requests.Requests(inStep(afterLastStep))))
	}
	if differs, is := errors.AsType[verdict.Finding](end.difference); is {
		found = append(found, differs)
	}
	if end.steps == nil && !end.stopped && !plan.has(fault.Replaced) { // which creates twice
		if many, is := errors.AsType[verdict.Finding](r.against.count(e.counts(r.against, r.injector.Writes()), triggers)); is {
			found = append(found, many)
		}
	}
	if err := e.invariants(plan, end); err != nil {
		found = append(found, verdict.FromInvariant(err))
	}
	if loop, is := errors.AsType[oracle.HotLoop](oracle.BoundedRetries(r.injector.Requests.Requests())); is && r.against.loop == nil {
		found = append(found, verdict.FromLoop(loop))
	}
	return found
}

// stepError is the error of a step, or of what the explorer waits for.
type stepError struct {
	step string
	error
}

func (e stepError) Unwrap() error { return e.error }

// failedStep returns the finding that a step failed, or that the run was ended.
func failedStep(err error) verdict.Finding {
	failed, _ := errors.AsType[stepError](err)
	return verdict.Finding{Oracle: verdict.Converges, Step: failed.step, Message: err.Error()}
}

func inStep(name string) record.Filter {
	return func(request record.Request) bool { return request.Step == name }
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
