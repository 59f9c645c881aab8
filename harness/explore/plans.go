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

// Plan is a scenario and the fault under which it is played.
type Plan struct {
	Scenario string
	Fault    fault.Fault
	// Then is the second fault of a pair, which may apply from when the first has, and is counted from there.
	Then fault.Fault
}

// String is the form that Parse reads: "webserver/create crash-after apply services web-service 1". A second fault follows
// after ", then ".
func (p Plan) String() string {
	text := p.Scenario + " " + p.Fault.String()
	if p.isPair() {
		text += then + p.Then.String()
	}
	return text
}

// then is between the faults of a pair. No name of an object contains it.
const then = ", then "

func (p Plan) isPair() bool { return p.Then.Type != fault.None }

func (p Plan) has(faultType fault.Type) bool {
	return p.Fault.Type == faultType || p.Then.Type == faultType
}

// plans returns the plans of a category, for all scenarios that have a reference. The same seed gives the same plans
// in the same order.
func (e *Explorer) plans(category fault.Category) []Plan {
	var plans []Plan
	for _, s := range e.Scenarios {
		if ref := e.reference(s.Name); ref != nil { // else it is left out
			plans = append(plans, e.plansOf(s, ref, category)...)
		}
	}
	return plans
}

func (e *Explorer) plansOf(s scenario.Scenario, ref *reference, category fault.Category) []Plan {
	var plans []Plan
	for _, of := range fault.Types(category) {
		for _, at := range of.Points(ref.points(!s.Subject.Empty(), e.random(of.Name(), s.Name))) {
			plans = append(plans, Plan{Scenario: s.Name, Fault: fault.Fault{Type: of, At: at}})
		}
	}
	return plans
}

// points describes the reference to the types of faults. A scenario that has no subject is one of a command, which does not say
// what it is about.
func (ref *reference) points(hasSubject bool, choice *rand.Rand) *fault.Reference {
	described := &fault.Reference{Reads: ref.reads, Actions: ref.actions, HasSubject: hasSubject, Choose: choice.IntN}
	for _, write := range ref.targets {
		described.Writes = append(described.Writes, write.RequestKey)
	}
	for _, w := range ref.watched {
		described.Watches = append(described.Watches, fault.Watch{Target: w.target, Actions: w.actions, Deletions: w.deletions})
	}
	return described
}

// random returns the random source for a type of fault, or a family of pairs, and a scenario, so that others do not change its choices.
func (e *Explorer) random(what, name string) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, what, name)
	return rand.New(rand.NewPCG(e.Seed, hash.Sum64()))
}

// Parse reads plans as Plan.String writes them, separated by ";".
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
	if !slices.ContainsFunc(scenarios, func(s scenario.Scenario) bool { return s.Name == name }) {
		return Plan{}, fmt.Errorf("plan %q: there is no scenario %q", text, name)
	}
	first, second, paired := strings.Cut(what, then)
	plan := Plan{Scenario: name}
	var err error
	if plan.Fault, err = fault.Parse(first); err == nil && paired {
		plan.Then, err = fault.Parse(second)
	}
	if err == nil {
		err = plan.validatePair()
	}
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	return plan, nil
}

// validatePair rejects two faults that cannot be played in one run.
func (p Plan) validatePair() error {
	switch {
	case !p.isPair():
		return nil
	case p.Fault.OfWatch() && p.Then.OfWatch():
		return errors.New("both faults are of watches: pair one with a fault at a request")
	case p.Fault.Category() == fault.TimeTravels || p.Then.Category() == fault.TimeTravels:
		return errors.New("a time travel is played alone: drop the other fault")
	}
	return nil
}
