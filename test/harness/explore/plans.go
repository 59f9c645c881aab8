package explore

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// Plan is a scenario and the fault under which it is played.
type Plan struct {
	Scenario string
	Fault    faults.Fault
}

// String is what Parse reads: "webserver/create crash-after apply services web-service 1".
func (p Plan) String() string { return p.Scenario + " " + p.Fault.String() }

// plans are those of a family, for all scenarios that have a reference. They are the same for the same
// seed, in the same order.
func (e *Explorer) plans(family faults.Family) []Plan {
	var plans []Plan
	for _, story := range e.Scenarios {
		for _, fault := range e.faultsOf(family, story.Name, e.reference(story.Name)) {
			plans = append(plans, Plan{Scenario: story.Name, Fault: fault})
		}
	}
	return plans
}

// faultsOf are a family's faults for a scenario. Crashes and Leaders befall every write. Of Refusals each kind
// befalls one request that the seed chooses. Of Views each kind holds every watch, from an action on that the seed
// chooses among those after which there is something to be told. Slowness befalls everything.
func (e *Explorer) faultsOf(family faults.Family, name string, ref *reference) []faults.Fault {
	var all []faults.Fault
	choice := e.choice(family, name)
	for _, kind := range faults.Kinds(family) {
		switch family {
		case faults.Crashes, faults.Leaders:
			for _, write := range ref.writes {
				all = append(all, faults.Fault{Kind: kind, At: write.Point})
			}
		case faults.Refusals:
			if points := refusable(kind, ref); len(points) > 0 {
				all = append(all, faults.Fault{Kind: kind, At: points[choice.IntN(len(points))]})
			}
		case faults.Views:
			for _, view := range ref.views {
				at := faults.Point{Verb: "watch", Target: view.target, Name: "-", Nth: 1 + choice.IntN(view.last)}
				all = append(all, faults.Fault{Kind: kind, At: at})
			}
		case faults.Slowness:
			all = append(all, faults.Fault{Kind: kind})
		}
	}
	return all
}

// refusable are the requests that an API server may refuse so. Only writes conflict.
func refusable(kind faults.Kind, ref *reference) []faults.Point {
	var points []faults.Point
	for _, write := range ref.writes {
		points = append(points, write.Point)
	}
	if !kind.OfWrites() {
		points = append(points, ref.reads...)
	}
	slices.SortFunc(points, byName)
	return points
}

// choice is the seed's, for a family of faults of a scenario: others do not change it.
func (e *Explorer) choice(family faults.Family, name string) *rand.Rand {
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
	fault, err := faults.Parse(what)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	return Plan{Scenario: name, Fault: fault}, nil
}
