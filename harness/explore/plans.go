package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/scenario"
)

// Plan is a scenario and the fault to inject into it.
type Plan struct {
	Scenario string
	Fault    fault.Fault
	// Then is the second fault of a pair. Then.At counts only the requests that are sent after the first fault.
	Then fault.Fault
}

// Planned is a plan of an exploration.
type Planned struct {
	Plan
	IsEquivalent bool // true if another plan has the same effect
}

// String returns the plan in the format that Parse accepts, for example "webserver/create crash-after apply services
// web-service 1". A second fault is appended after ", then ".
func (p Plan) String() string {
	text := p.Scenario + " " + p.Fault.String()
	if p.isPair() {
		text += pairSeparator + p.Then.String()
	}
	return text
}

// pairSeparator separates the two faults of a pair. It cannot occur in the name of an object.
const pairSeparator = ", then "

func (p Plan) isPair() bool { return p.Then.Type != fault.None }

// Parse parses plans in the format of Plan.String, separated by semicolons. If scenarios is empty, any name is valid.
func Parse(text string, scenarios []scenario.Scenario) ([]Plan, error) {
	var plans []Plan
	for one := range strings.SplitSeq(text, ";") {
		plan, err := parse(one, scenarios)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

func parse(text string, scenarios []scenario.Scenario) (Plan, error) {
	name, what, _ := strings.Cut(strings.TrimSpace(text), " ")
	if len(scenarios) > 0 && !slices.ContainsFunc(scenarios, func(s scenario.Scenario) bool { return s.Name == name }) {
		return Plan{}, fmt.Errorf("plan %q: there is no scenario %q", text, name)
	}
	if what == "" {
		return Plan{}, fmt.Errorf("invalid plan %q: want a scenario and a fault, for example %q", text, "web/create crash-after create configmaps - 1")
	}
	first, second, paired := strings.Cut(what, pairSeparator)
	plan := Plan{Scenario: name}
	var err error
	if plan.Fault, err = fault.Parse(first); err == nil && paired {
		plan.Then, err = fault.Parse(second)
	}
	if err == nil {
		err = plan.validatePair()
	}
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: fault of scenario %q: %w", text, name, err)
	}
	return plan, nil
}

func (p Plan) validatePair() error {
	switch {
	case !p.isPair():
		return nil
	case p.Fault.OfWatch() && p.Then.OfWatch():
		return errors.New("both faults affect watches: combine a watch fault with a request fault")
	case p.Fault.Category() == fault.TimeTravels || p.Then.Category() == fault.TimeTravels:
		return errors.New("a time travel cannot be combined with another fault: remove one of them")
	}
	return nil
}

// planner derives the plans only from the references and the seed, so that all shards derive the same plans.
type planner struct {
	options *Options
	learner *learner
}

func (p *planner) plans(category fault.Category) []Plan {
	var plans []Plan
	for _, s := range p.options.Scenarios {
		if ref := p.learner.reference(s.Name); ref != nil { // the scenario was not left out
			plans = append(plans, p.plansOf(s, ref, category)...)
		}
	}
	return plans
}

func (p *planner) plansOf(s scenario.Scenario, ref *reference, category fault.Category) []Plan {
	var plans []Plan
	for _, of := range fault.Types(category) {
		points := ref.points.reference
		points.HasSubject, points.Choose = !s.Subject.Empty(), p.random(of.Name(), s.Name).IntN
		for _, at := range of.Points(&points) {
			plans = append(plans, Plan{Scenario: s.Name, Fault: fault.Fault{Type: of, At: at}})
		}
	}
	return plans
}

func (p *planner) isOfAnotherShard(plan Plan) bool {
	return !p.options.Shard.Has(plan.String()) && slices.Contains(p.plans(plan.Fault.Category()), plan)
}

// random returns a random source for a decision, such as the choice of requests for a fault type in a scenario. Each
// decision has a separate source, so that it does not depend on the others.
func (p *planner) random(what, name string) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, what, name)
	return rand.New(rand.NewPCG(p.options.Seed, hash.Sum64()))
}
