package explore

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// Exploration converts the results to a report, including the Kubernetes version. rerunCommand may be nil.
func (e *Explorer) Exploration(all []Result, about results.About, rerunCommand func(Plan) string) results.Exploration {
	if client, err := discovery.NewDiscoveryClientForConfig(e.Options.Environment.ControlPlane.Config); err == nil {
		if version, err := client.ServerVersion(); err == nil {
			about.Kubernetes = version.GitVersion
		}
	}
	x := results.Exploration{
		About: about, Started: e.started.UTC(), Seconds: time.Since(e.started).Seconds(), Seed: e.Options.Seed, Shard: e.Options.Shard,
		References: map[string]*results.Run{}, WithoutFault: e.withoutFault.all(), Plans: recordsOf(all, rerunCommand),
	}
	for _, r := range all {
		if x.References[r.Scenario] == nil {
			if ref := e.learner.reference(r.Scenario); ref != nil { // otherwise the scenario was left out later
				x.References[r.Scenario] = ref.run
			}
		}
	}
	return x
}

func recordsOf(all []Result, rerunCommand func(Plan) string) []results.Plan {
	var plans []results.Plan
	for _, r := range all {
		plan := results.Plan{
			Scenario: r.Scenario, Category: string(r.Fault.Category()), Type: r.Fault.Name(), Passed: r.Passed(), Outcome: r.Outcome,
		}
		if r.Fault.At != (fault.RequestKey{}) {
			plan.At = r.Fault.At.String()
		}
		if r.isPair() {
			plan.Category, plan.Then = pairs, r.Then.String()
		}
		if rerunCommand != nil {
			plan.Rerun = rerunCommand(r.Plan)
		}
		plans = append(plans, plan)
	}
	return plans
}

// FailureReport returns a report on the failed plans, with one example per cause. rerunCommand may be nil.
func FailureReport(all []Result, rerunCommand func(Plan) string) string {
	return results.Exploration{Plans: recordsOf(all, rerunCommand)}.FailureText()
}

// Err returns an error if any plan failed.
func Err(all []Result) error {
	failed := 0
	for _, r := range all {
		if !r.Passed() {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d plans failed", failed, len(all))
	}
	return nil
}

// Table returns results.Exploration.Table for the results.
func Table(all []Result) string { return results.Exploration{Plans: recordsOf(all, nil)}.Table() }

// Result is a plan and its outcome. String returns only the plan; use FailureReport to describe the findings.
type Result struct {
	Plan
	results.Outcome
	// trial is the trial that reruns this plan. It is nil if the plan has not been chosen for confirmation.
	trial *trial
	// difference is the final state if it differs from the expected state. It is nil if conditions.awaited occurs in
	// the state.
	difference *verdict.Deviation
	injected   injection
}

// injection holds the faults that were injected during a run and the writes that followed the first fault.
type injection struct {
	triggers    []fault.Trigger
	writesAfter []fault.RequestKey
}

// Passed reports whether there are no findings.
func (r Result) Passed() bool { return len(r.Findings) == 0 }

// failsLike reports whether the same oracle has findings for both results.
func (r Result) failsLike(other Result) bool { return verdict.Alike(r.Findings, other.Findings) }

// awaited returns the difference that a fault-free rerun waits for. It returns nil unless the Reference oracle has a
// finding. A difference that only the Agreement oracle found cannot reappear, because generated values differ in every
// run.
func (r Result) awaited() *verdict.Deviation {
	if !r.has(func(f verdict.Finding) bool { return f.Oracle == verdict.Reference }) {
		return nil
	}
	return r.difference
}

func (r Result) has(such func(verdict.Finding) bool) bool {
	return slices.ContainsFunc(r.Findings, such)
}

// differsByChance reports whether the difference is explained by nondeterminism that was discovered after the run.
func (r Result) differsByChance() bool { return r.difference != nil && !r.difference.Remains() }
