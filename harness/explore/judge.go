package explore

import (
	"errors"
	"sync"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/verdict"
)

type judge struct {
	options      *Options
	kinds        kinds
	withoutFault *findingsWithoutFault
	sampled      sync.Map // combinations of scenario and fault types that already have a passed run with a timeline
}

func (j *judge) result(plan Plan, ref *reference, r *recording) Result {
	result, end := Result{Plan: plan}, r.outcome
	hide := ref.secrets.And(redact.New(end.history, j.options.Public))
	result.triggers, result.writesAfter = r.injector.Triggers(), r.injector.Journal.WritesAfterFault()
	if end.difference != nil && !end.awaitedFound {
		result.difference = &verdict.Deviation{Expected: ref.expectedAfter(r), State: end.state}
	}
	for _, found := range j.findings(plan, ref, r, hide) {
		result.Findings = append(result.Findings, found.Redact(hide.Text).Redact(r.withoutNamespace))
	}
	result.Triggered = len(result.triggers) > 0 && (len(result.triggers) == 2 || !plan.isPair())
	result.Requests, result.Seconds = len(r.injector.Requests.Requests()), r.timeline.end.Sub(r.timeline.start).Seconds()
	if !result.Passed() || j.isFirst(plan) {
		result.Run = r.report(hide)
	}
	return result
}

func (j *judge) findings(plan Plan, ref *reference, r *recording, hide redact.Redactor) []verdict.Finding {
	end, triggers := r.outcome, r.injector.Triggers()
	failed, _ := errors.AsType[stepError](end.steps)
	run := verdict.Run{
		Requests: r.injector.Requests.Requests(), Triggered: len(triggers) > 0, Panics: j.withoutFault.newPanics(plan, r.log.text(), hide),
		FailedStep: failed.step, Failure: end.steps, Steps: r.timing.steps, Timely: r.timing.timely,
		Unstable: end.unstable, Difference: end.difference, Invariant: j.invariants(plan, end.history), LoopsAnyway: ref.loop != nil,
	}
	// Do not compare the counts after a Replaced fault, because the operator creates its objects a second time.
	if end.steps == nil && !end.stopped && plan.Fault.Type != fault.Replaced && plan.Then.Type != fault.Replaced {
		run.Excess = ref.compareCounts(ref.countChanges(j.kinds, r.injector.Journal.Writes()), triggers)
	}
	return verdict.Judge(run)
}

func (j *judge) isFirst(plan Plan) bool {
	key := Plan{plan.Scenario, fault.Fault{Type: plan.Fault.Type}, fault.Fault{Type: plan.Then.Type}}
	_, known := j.sampled.LoadOrStore(key, true)
	return !known
}

// invariants calls Options.Invariants. For a pair of faults, it returns an error only if the checks for both fail.
func (j *judge) invariants(plan Plan, history []record.ObjectVersion) error {
	if j.options.Invariants == nil {
		return nil
	}
	err := j.options.Invariants(plan.Fault.Category(), history)
	if err != nil && plan.isPair() {
		err = j.options.Invariants(plan.Then.Category(), history)
	}
	return err
}
