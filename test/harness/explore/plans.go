package explore

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// Plan is a scenario and the fault under which it is played.
type Plan struct {
	Scenario string
	Fault    faultinject.Fault
}

// String is what Parse reads: "webserver/create crash-after apply services web-service 1".
func (p Plan) String() string { return p.Scenario + " " + p.Fault.String() }

// plans are those of a family, for all scenarios that have a reference. They are the same for the same
// seed, in the same order.
func (e *Explorer) plans(family faultinject.Category) []Plan {
	var plans []Plan
	for _, s := range e.Scenarios {
		for _, fault := range e.faultsFor(family, s.Name, e.reference(s.Name)) {
			plans = append(plans, Plan{Scenario: s.Name, Fault: fault})
		}
	}
	return plans
}

// faultsFor are a family's faults for a scenario. Crashes and Leaders befall every write. Of Refusals each kind
// befalls one request that the seed chooses. Of Views each kind holds every watch, from an action on that the seed
// chooses among those after which there is something to be told. Slowness befalls everything.
func (e *Explorer) faultsFor(family faultinject.Category, name string, ref *reference) []faultinject.Fault {
	var all []faultinject.Fault
	choice := e.random(family, name)
	for _, kind := range faultinject.Types(family) {
		switch family {
		case faultinject.Crashes, faultinject.LeaderChanges:
			for _, write := range ref.writes {
				all = append(all, faultinject.Fault{Type: kind, At: write.RequestKey})
			}
		case faultinject.Errors:
			if points := errorTargets(kind, ref); len(points) > 0 {
				all = append(all, faultinject.Fault{Type: kind, At: points[choice.IntN(len(points))]})
			}
		case faultinject.Staleness:
			for _, view := range ref.watched {
				at := faultinject.RequestKey{Verb: "watch", Target: view.target, Name: "-", Nth: 1 + choice.IntN(view.lastAction)}
				all = append(all, faultinject.Fault{Type: kind, At: at})
			}
		case faultinject.Latency:
			all = append(all, faultinject.Fault{Type: kind})
		}
	}
	return all
}

// errorTargets are the requests that an API server may refuse so. Only writes conflict.
func errorTargets(kind faultinject.Type, ref *reference) []faultinject.RequestKey {
	var points []faultinject.RequestKey
	for _, write := range ref.writes {
		points = append(points, write.RequestKey)
	}
	if !kind.WritesOnly() {
		points = append(points, ref.reads...)
	}
	slices.SortFunc(points, byName)
	return points
}

// random is the seed's, for a family of faults of a scenario: others do not change it.
func (e *Explorer) random(family faultinject.Category, name string) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, family, name)
	return rand.New(rand.NewPCG(e.Seed, hash.Sum64()))
}

// Parse reads plans as Plan.String wrote them, with a ";" between one and the next.
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
	fault, err := faultinject.Parse(what)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	return Plan{Scenario: name, Fault: fault}, nil
}
