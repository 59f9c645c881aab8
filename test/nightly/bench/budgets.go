package bench

import (
	"fmt"

	"github.com/operator-assay/assay/harness/report/results"
)

// allowance is by how many requests a resource the requests of all may exceed the budget on average: on a machine that is slow
// for its load, some rollouts take long enough for a status more, or for a conflict. What the operator does too often,
// it does for more than one resource in twenty.
const allowance = 0.05

// budgets are how many requests a resource may cost in each phase, Events included. A phase without one may not write. A
// run that exceeds one fails. The contract allows a WebServer's creation more: it has two children.
func (k kind) budgets() map[string]float64 {
	create := 4.0
	if k.service {
		create = 6
	}
	return map[string]float64{phaseCreate: create, phaseScale: 4, phaseDeleted: 5}
}

// mayRead tells whether reads are allowed in a phase. Those of a start are of resources that need no repair.
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

// each is a count per resource.
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

// The aims. Times and memory depend on the machine: they are reported, and no run fails by them.
const (
	aimCreate      = 1.2   // times the ideal client's time
	aimHealP50     = 0.006 // seconds
	aimHealP95     = 0.010
	aimHealStatus  = 0.150
	aimCreateCPU   = 2.2 // seconds, for 1,000 resources
	aimKiBResource = 20.0
)
