package explore

import (
	"fmt"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/report/results"
)

// Exploration is what a report needs of the results. rerunCommand returns the command that plays a plan again; nil for
// none. The version of Kubernetes is filled in.
func (e *Explorer) Exploration(all []Result, about results.About, rerunCommand func(Plan) string) results.Exploration {
	if client, err := discovery.NewDiscoveryClientForConfig(e.ControlPlane.Config); err == nil {
		if version, err := client.ServerVersion(); err == nil {
			about.Kubernetes = version.GitVersion
		}
	}
	x := results.Exploration{
		About: about, Started: e.started.UTC(), Seconds: time.Since(e.started).Seconds(), Seed: e.Seed, Shard: e.Shard,
		References: map[string]*results.Run{}, Panics: e.Panics(), Plans: recordsOf(all, rerunCommand),
	}
	for _, r := range all {
		if x.References[r.Scenario] == nil {
			x.References[r.Scenario] = e.reference(r.Scenario).run
		}
	}
	return x
}

// recordsOf returns results as they are written to files.
func recordsOf(all []Result, rerunCommand func(Plan) string) []results.Plan {
	var plans []results.Plan
	for _, r := range all {
		plan := results.Plan{
			Scenario: r.Scenario, Category: string(r.Fault.Category()), Type: r.Fault.Name(),
			Triggered: r.Triggered, NeedsBoth: r.NeedsBoth, Passed: r.Passed(), Findings: r.Findings, Confirmation: r.Confirmation, Requests: r.Requests, Seconds: r.Duration.Seconds(), Run: r.Run,
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

// String is a failure as it is printed.
func (r Result) String() string {
	return FailureReport([]Result{r}, nil)
}

// FailureReport prints the failed plans, one example for each cause. rerunCommand returns the command that plays a plan
// again; nil for none.
func FailureReport(all []Result, rerunCommand func(Plan) string) string {
	return results.Exploration{Plans: recordsOf(all, rerunCommand)}.FailureText()
}

// Err is an error if a plan failed.
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

// Table sums results up, as results.Exploration.Table.
func Table(all []Result) string { return results.Exploration{Plans: recordsOf(all, nil)}.Table() }
