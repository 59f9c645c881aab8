package explore

import (
	"context"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// Each of the five phases of an exploration has its own type. This file shows the order of the phases.

// Explore runs all plans of the categories and returns their results in order. It returns an error if a scenario fails
// without a fault, unless Options.LeaveOut is set. If ctx is canceled, it returns the results so far and the cause.
func (e *Explorer) Explore(ctx context.Context, categories ...fault.Category) ([]Result, error) {
	return e.Start(ctx, categories...).Wait()
}

func (x *Session) explore(s scenario.Scenario) {
	x.exploring.Go(func() {
		// Learn: run the scenario without faults and record its reference.
		ref, err := x.e.learner.learnScenario(x.ctx, s)
		if err != nil {
			x.leaveOut(err)
			return
		}

		// Plan: choose the requests and watches of the reference run at which to inject faults.
		var plans []Plan
		for _, category := range x.categories {
			for _, plan := range x.e.planner.plansOf(s, ref, category) {
				if x.e.Options.Shard.Has(plan.String()) {
					plans = append(plans, plan)
				}
			}
		}

		x.e.playEach(x.ctx, plans, usual, x.progress, x.add)
	})
}

func (e *Explorer) play(ctx context.Context, plan Plan, how conditions) Result {
	ref := e.learner.reference(plan.Scenario)
	// Play: run the scenario with the fault.
	run, err := e.player.play(ctx, attempt{e.learner.scenario(plan.Scenario), plan.Fault, plan.Then, ref, how})
	if err != nil {
		failed := verdict.Finding{Oracle: verdict.Converges, Step: "run starts", Message: err.Error()}
		return Result{Plan: plan, Outcome: results.Outcome{Findings: []verdict.Finding{failed.Redact(ref.secrets.Text)}}}
	}
	// Judge: compare the recording with the reference.
	return e.judge.result(plan, ref, run)
}
