package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
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
	if category == fault.Replacements && s.Subject.Empty() {
		return nil // as of a command, which does not say what it is about
	}
	var plans []Plan
	for _, fault := range e.faultsFor(category, s.Name, ref) {
		plans = append(plans, Plan{Scenario: s.Name, Fault: fault})
	}
	return plans
}

// faultsFor returns the faults of a category for a scenario. Crashes, LeaderChanges, and of the Errors 409 and 500 apply
// to every write, but for those in steps that an earlier scenario covers. So do Replacements, in scenarios of one action:
// later, an object may keep something of its past. Each type of Errors applies besides to one
// request, which the seed chooses. Each type of Staleness pauses every watch from an action on, which the seed chooses
// among those that are followed by an event and, for StaleAcross, by another action. TimeTravels go back before every
// action that is followed by an event, for each watch and for all at once. Latency applies to all requests.
func (e *Explorer) faultsFor(category fault.Category, name string, ref *reference) []fault.Fault {
	var all []fault.Fault
	choice := e.random(category, name)
	for _, faultType := range fault.Types(category) {
		switch category {
		case fault.Crashes, fault.LeaderChanges:
			for _, write := range ref.targets {
				all = append(all, fault.Fault{Type: faultType, At: write.RequestKey})
			}
		case fault.Replacements:
			if ref.actions == 1 {
				for _, write := range ref.targets {
					all = append(all, fault.Fault{Type: faultType, At: write.RequestKey})
				}
			}
		case fault.Errors:
			if keys := errorTargets(faultType, ref); len(keys) > 0 {
				all = append(all, fault.Fault{Type: faultType, At: keys[choice.IntN(len(keys))]})
			}
			if faultType == fault.Error409 || faultType == fault.Error500 {
				for _, write := range ref.targets {
					if fault := (fault.Fault{Type: faultType, At: write.RequestKey}); !slices.Contains(all, fault) {
						all = append(all, fault)
					}
				}
			}
		case fault.Staleness:
			for _, view := range ref.watched {
				last := view.lastAction()
				if faultType == fault.StaleAcross {
					last = min(last, ref.actions-1)
				}
				if last > 0 {
					all = append(all, watchFault(faultType, view.target, 1+choice.IntN(last)))
				}
			}
		case fault.TimeTravels:
			all = append(all, timeTravels(faultType, ref.watched)...)
		case fault.Latency:
			all = append(all, fault.Fault{Type: faultType})
		}
	}
	return all
}

func watchFault(faultType fault.Type, target string, action int) fault.Fault {
	return fault.Fault{Type: faultType, At: fault.RequestKey{Verb: "watch", Target: target, Name: "-", Nth: action}}
}

// timeTravels go back before each action after which a resource changed. Where several did, all of them go back
// together besides. From the second action on, one can go back before the action before. After an action behind a deletion
// one can go back into that.
func timeTravels(faultType fault.Type, watched []watchedResource) []fault.Fault {
	var all []fault.Fault
	together := map[int]int{} // how many resources changed after an action
	for _, view := range watched {
		for _, action := range view.actions {
			together[action]++
			if faultType == fault.TimeTravel || faultType == fault.TimeTravelDeleting && view.comesBackAfter(action) {
				all = append(all, watchFault(faultType, view.target, action))
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(together)) {
		switch {
		case faultType == fault.TimeTravel && together[action] > 1:
			all = append(all, watchFault(faultType, fault.AllTargets, action))
		case faultType == fault.TimeTravelFar && action > 1:
			all = append(all, watchFault(faultType, fault.AllTargets, action-1))
		}
	}
	return all
}

// comesBackAfter tells whether one of a resource's objects was being deleted after an action, and later one changed.
func (w watchedResource) comesBackAfter(action int) bool {
	return slices.Contains(w.deletions, action) && w.lastAction() > action
}

// errorTargets returns the requests that can fail with a type. Only writes conflict.
func errorTargets(faultType fault.Type, ref *reference) []fault.RequestKey {
	var keys []fault.RequestKey
	for _, write := range ref.targets {
		keys = append(keys, write.RequestKey)
	}
	if !faultType.WritesOnly() {
		keys = append(keys, ref.reads...)
	}
	slices.SortFunc(keys, byName)
	return keys
}

// random is the random source of a category and a scenario, so that others do not change its choices.
func (e *Explorer) random(category fault.Category, name string) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, category, name)
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
	case p.Fault.Type.OfWatch() && p.Then.Type.OfWatch():
		return errors.New("both faults are of watches: pair one with a fault at a request")
	case p.Fault.Type.Category() == fault.TimeTravels || p.Then.Type.Category() == fault.TimeTravels:
		return errors.New("a time travel is played alone: drop the other fault")
	}
	return nil
}
