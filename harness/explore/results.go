package explore

import (
	"slices"
	"strings"
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
	x := Report(all, rerunCommand)
	x.About, x.Started, x.Seconds, x.Seed, x.Shard = about, e.started.UTC(), time.Since(e.started).Seconds(), e.Options.Seed, e.Options.Shard
	x.References, x.WithoutFault = map[string]*results.Run{}, e.withoutFault.all()
	for _, r := range all {
		if x.References[r.Scenario] == nil {
			if ref := e.learner.reference(r.Scenario); ref != nil { // otherwise the scenario was left out later
				x.References[r.Scenario] = ref.run
			}
		}
	}
	return x
}

// Report converts the results to a report that contains only plans. rerunCommand may be nil.
func Report(all []Result, rerunCommand func(Plan) string) (report results.Exploration) {
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
		report.Plans = append(report.Plans, plan)
	}
	return report
}

// Result is a plan and its outcome. String returns only the plan; use Report to describe the findings.
type Result struct {
	Plan
	results.Outcome
	// trial reruns this plan to confirm the failure. It is nil if the plan was not chosen to be rerun.
	trial *trial
	// difference contains the expected and the final state. It is nil if they are equal. It is also nil if a rerun without
	// the fault waited for a difference and found it.
	difference  *verdict.Deviation
	triggers    []fault.Trigger
	writesAfter []fault.RequestKey // the writes that followed the first fault
}

// Passed reports whether there are no findings.
func (r Result) Passed() bool { return len(r.Findings) == 0 }

// failure returns the plan and the oracles that have findings, or an empty string if the plan passed.
func (r Result) failure() string {
	if r.Passed() {
		return ""
	}
	var oracles []string
	for _, finding := range r.Findings {
		oracles = append(oracles, string(finding.Oracle))
	}
	return r.String() + ": " + strings.Join(oracles, ", ")
}

// awaited returns the difference that a fault-free rerun tries to reproduce. It returns nil if only the Agreement
// oracle found a difference, because generated values differ in every run.
func (r Result) awaited() *verdict.Deviation {
	if !slices.ContainsFunc(r.Findings, func(f verdict.Finding) bool { return f.Oracle == verdict.Reference }) {
		return nil
	}
	return r.difference
}

// differsByChance reports whether the difference is explained by nondeterminism that was discovered after the run.
func (r Result) differsByChance() bool { return r.difference != nil && !r.difference.Remains() }
