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
	// Triggered is true if the fault was injected, or both faults of a pair. A run may differ from the reference and
	// never send the request at which the fault was planned. Such a run proves nothing.
	Triggered bool
	// NeedsBoth is true if a pair of faults failed but the scenario passes with either fault alone.
	NeedsBoth bool
	// Findings are the findings of the oracles. It is empty if the plan passed.
	Findings []verdict.Finding
	// Confirmation is how often the failure was reproduced. It is nil if Confirm did not choose this plan or has not
	// finished yet.
	Confirmation *verdict.Confirmation
	// stale is true if the run and the reference used different kinds of control plane. The result is then
	// meaningless.
	stale bool
	// trial is the trial that confirms this result. It is nil if Confirm did not choose this plan.
	trial *trial
	// Run is the timeline. It is set if the plan failed, and for the first plan of each scenario and fault type.
	Run      *results.Run
	Requests int
	Duration time.Duration
	// difference is the difference that the Reference oracle found, unless it was the awaited one.
	difference *difference
	// triggers are the faults that were injected, and aftermath contains the writes after the first one.
	triggers  []fault.Trigger
	aftermath []fault.RequestKey
}

// Passed reports whether there are no findings.
func (r Result) Passed() bool { return len(r.Findings) == 0 }

func (e *Explorer) judge(ctx context.Context, plan Plan, how conditions) Result {
	result := Result{Plan: plan}
	ref := e.reference(plan.Scenario)
	hide := ref.secrets
	r, end, err := e.run(ctx, attempt{e.scenario(plan.Scenario), plan.Fault, plan.Then, ref, how})
	if err != nil {
		result.Findings = []verdict.Finding{failedStep(stepError{"run starts", err}).Redact(hide.text)}
		return result
	}
	if result.stale = r.env.exclusive != ref.exclusive; result.stale {
		return result
	}
	hide = hide.and(newRedactor(end.history, e.Options.Public))
	requests := r.injector.Requests.Requests()
	result.triggers, result.aftermath = r.injector.Triggers(), r.injector.WritesAfterFault()
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

func (e *Explorer) findings(plan Plan, r *run, end outcome, triggers []fault.Trigger, hide redactor) []verdict.Finding {
	var found []verdict.Finding
	if panics := e.panicked(plan, r.log.text(), hide); len(panics) > 0 {
		found = append(found, verdict.FromPanics(panics))
	}
	if end.steps != nil {
		found = append(found, failedStep(end.steps))
	}
	late := r.late
	if len(triggers) == 0 { // a step before the fault may have been late for any reason
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
	if end.steps == nil && !end.stopped && !plan.has(fault.Replaced) { // a replacement creates objects twice
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

// stepError is the error of a step of the scenario or of a wait of the Explorer.
type stepError struct {
	step string
	error
}

func (e stepError) Unwrap() error { return e.error }

// failedStep returns the finding for a failed step or an aborted run.
func failedStep(err error) verdict.Finding {
	failed, _ := errors.AsType[stepError](err)
	return verdict.Finding{Oracle: verdict.Converges, Step: failed.step, Message: err.Error()}
}

func inStep(name string) record.Filter {
	return func(request record.Request) bool { return request.Step == name }
}

// expects returns the expected state at the point where the run ended.
func (r *run) expects(end outcome) *expected {
	if end.stopped {
		return r.against.checkpoints[len(r.checkpoints)]
	}
	return r.against.final
}

// isFirst reports whether it is called for the first time for the plan's scenario and fault types.
func (e *Explorer) isFirst(plan Plan) bool {
	key := Plan{plan.Scenario, fault.Fault{Type: plan.Fault.Type}, fault.Fault{Type: plan.Then.Type}}
	_, known := e.sampled.LoadOrStore(key, true)
	return !known
}

// invariants calls Options.Invariants. For a pair, it checks the invariants of both fault categories.
func (e *Explorer) invariants(plan Plan, end outcome) error {
	if e.Options.Invariants == nil {
		return nil
	}
	err := e.Options.Invariants(plan.Fault.Category(), end.history)
	if err != nil && plan.isPair() {
		err = e.Options.Invariants(plan.Then.Category(), end.history)
	}
	return err
}
