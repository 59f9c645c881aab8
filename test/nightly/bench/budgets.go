package bench

import (
	"fmt"

	"github.com/operator-assay/assay/harness/report/results"
)

// allowance is the number of requests by which the average per resource may exceed the budget. On a slow machine,
// some rollouts take long enough to cause an additional status update or a conflict. A bug in the operator would
// affect more than one in twenty resources.
const allowance = 0.05

// budgets returns the maximum number of requests per resource in each phase, including Events. Writes are not allowed
// in a phase without a budget. A run fails if it exceeds a budget. The budget for creating a WebServer is higher,
// because it has two children.
func (k kind) budgets() map[string]float64 {
	create := 4.0
	if k.service {
		create = 6
	}
	return map[string]float64{phaseCreate: create, phaseScale: 4, phaseDeleted: 5}
}

// mayRead reports whether reads are allowed in a phase. In the start phase, only resources that need no repair are
// counted.
func mayRead(phase string) bool { return phase == phaseDeleted || phase == phaseStart }

// exceeded describes how the operator exceeds the budget of a phase.
func exceeded(s results.BenchSize, phase string) []string {
	var over []string
	p := s.Operator[phase]
	if !mayRead(phase) && p.Requests.Reads > 0 {
		over = append(over, fmt.Sprintf("%s reads per resource, none is allowed", each(p.Requests.Reads, p)))
	}
	switch budget, mayWrite := s.Budgets[phase]; {
	case !mayWrite && p.Requests.Writes+p.Requests.Events > 0:
		over = append(over, fmt.Sprintf("%d writes and %d Events, none is allowed", p.Requests.Writes, p.Requests.Events))
	case mayWrite && float64(p.Requests.All()) > (budget+allowance)*float64(p.Resources):
		over = append(over, fmt.Sprintf("%s requests per resource, %g are allowed", each(p.Requests.All(), p), budget))
	}
	return over
}

// each formats a count per resource.
func each(count int, p results.BenchPhase) string {
	return fmt.Sprintf("%.2f", float64(count)/float64(p.Resources))
}

// allExceeded describes the exceeded budgets of all phases.
func allExceeded(s results.BenchSize) []string {
	var all []string
	for _, phase := range phases {
		for _, over := range exceeded(s, phase) {
			all = append(all, fmt.Sprintf("%d %s, %s: %s: %s", s.Count, s.Kind, phase, over, s.Operator[phase].Requests))
		}
	}
	return all
}

// Aims for times and memory. They depend on the machine, so they are only reported and do not fail a run.
const (
	aimCreate      = 1.2   // relative to the ideal client
	aimHealP50     = 0.006 // in seconds
	aimHealP95     = 0.010
	aimHealStatus  = 0.150
	aimCreateCPU   = 2.2 // in seconds, for 1,000 resources
	aimKiBResource = 20.0
)
