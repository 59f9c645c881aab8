package bench

import "fmt"

// budget is the maximum cost of a phase. A run that exceeds one fails.
type budget struct {
	all    float64 // requests a resource, Events included
	reads  bool    // whether reads are allowed
	writes bool    // whether writes and Events are allowed; if not, only they count
}

// allowance is by how many requests a resource the requests of all may exceed the budget on average: on a machine that is slow
// for its load, some rollouts take long enough for a status more, or for a conflict. What the operator does too often,
// it does for more than one resource in twenty.
const allowance = 0.05

// budgets are those of each phase. The contract allows a WebServer's creation more: it has two children.
func (k kind) budgets() map[string]budget {
	create := budget{all: 4, writes: true}
	if k.service {
		create.all = 6
	}
	return map[string]budget{
		phaseCreate:  create,
		phaseIdle:    {},
		phaseScale:   {all: 4, writes: true},
		phaseDeleted: {all: 5, reads: true, writes: true},
		phaseStart:   {reads: true}, // of resources that need no repair
	}
}

// exceeded describes how a phase exceeds its budget.
func (b budget) exceeded(p *Phase) []string {
	var over []string
	if !b.reads && p.Requests.Reads > 0 {
		over = append(over, fmt.Sprintf("%s reads per resource, none is allowed", each(p.Requests.Reads, p)))
	}
	switch {
	case !b.writes && p.Requests.Writes+p.Requests.Events > 0:
		over = append(over, fmt.Sprintf("%d writes and %d Events, none is allowed", p.Requests.Writes, p.Requests.Events))
	case b.writes && float64(p.Requests.All()) > (b.all+allowance)*float64(p.Resources):
		over = append(over, fmt.Sprintf("%s requests per resource, %g are allowed", each(p.Requests.All(), p), b.all))
	}
	return over
}

// each is a count per resource.
func each(count int, p *Phase) string {
	return fmt.Sprintf("%.2f", float64(count)/float64(p.Resources))
}

// exceeded describes the exceeded budgets of all phases.
func (s *Size) exceeded() []string {
	var all []string
	for _, phase := range phases {
		for _, over := range s.budgets[phase].exceeded(s.Operator[phase]) {
			all = append(all, fmt.Sprintf("%d %s, %s: %s: %s", s.Count, s.Kind, phase, over, s.Operator[phase].Requests))
		}
	}
	return all
}

// phases are the operator's.
var phases = []string{phaseCreate, phaseIdle, phaseScale, phaseDeleted, phaseStart}

// The aims. Times and memory depend on the machine: they are reported, and no run fails by them.
const (
	aimCreate      = 1.2   // times the ideal client's time
	aimHealP50     = 0.006 // seconds
	aimHealP95     = 0.010
	aimHealStatus  = 0.150
	aimCreateCPU   = 2.2 // seconds, for 1,000 resources
	aimKiBResource = 20.0
)
