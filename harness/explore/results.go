package explore

import (
	"fmt"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/report/results"
)

// Exploration converts the results to a report, including the Kubernetes version. rerunCommand returns the command
// that replays a plan, and may be nil.
func (e *Explorer) Exploration(all []Result, about results.About, rerunCommand func(Plan) string) results.Exploration {
	if client, err := discovery.NewDiscoveryClientForConfig(e.Options.Environment.ControlPlane.Config); err == nil {
		if version, err := client.ServerVersion(); err == nil {
			about.Kubernetes = version.GitVersion
		}
	}
	x := results.Exploration{
		About: about, Started: e.started.UTC(), Seconds: time.Since(e.started).Seconds(), Seed: e.Options.Seed, Shard: e.Options.Shard,
		References: map[string]*results.Run{}, WithoutFault: e.WithoutFault(), Plans: recordsOf(all, rerunCommand),
	}
	for _, r := range all {
		if x.References[r.Scenario] == nil {
			x.References[r.Scenario] = e.reference(r.Scenario).run
		}
	}
	return x
}

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

func (r Result) String() string {
	return FailureReport([]Result{r}, nil)
}

// FailureReport prints the failed plans, with one example per cause. rerunCommand returns the command that replays a
// plan, and may be nil.
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
