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
	Family   Family
	Fault    faults.Fault
}

// String is what Parse reads: "webserver/create crash-after apply services web-service 1".
func (p Plan) String() string { return p.Scenario + " " + p.Fault.String() }

// Family are faults of one nature.
type Family string

// The families, and what of each is played.
const (
	// Crashes are all writes, each with a death before and after it and with its answer lost.
	Crashes Family = "crashes"
	// Leaders are all writes, each of which is a deposed leader's last.
	Leaders Family = "leaders"
	// Refusals are all answers that an API server refuses with, each at a request that the seed chooses.
	Refusals Family = "refusals"
	// Views are all watches, each held, lost, and old after a restart, from an action on that the seed
	// chooses among those after which there is something to be told.
	Views Family = "views"
	// Slowness is a slow API server, in reads and in writes.
	Slowness Family = "slowness"
)

// Families are all of them.
var Families = []Family{Crashes, Leaders, Refusals, Views, Slowness}

// kinds are a family's faults.
var kinds = map[Family][]faults.Kind{
	Crashes: {faults.CrashBefore, faults.CrashAfter, faults.LostAnswer},
	Leaders: {faults.LateWrite},
	Refusals: {faults.Refuse409, faults.Refuse429, faults.Refuse500, faults.Refuse503, faults.Timeout, faults.Reset,
		faults.Storm409, faults.Storm503, faults.StormReset},
	Views:    {faults.Stale, faults.StaleRestart, faults.Missed},
	Slowness: {faults.SlowReads, faults.SlowWrites},
}

// plans are those of a family, for all scenarios that have a reference. They are the same for the same
// seed, in the same order.
func (e *Explorer) plans(family Family) []Plan {
	var plans []Plan
	for _, story := range e.Scenarios {
		for _, fault := range e.faultsOf(family, story.Name, e.reference(story.Name)) {
			plans = append(plans, Plan{Scenario: story.Name, Family: family, Fault: fault})
		}
	}
	return plans
}

func (e *Explorer) faultsOf(family Family, name string, ref *reference) []faults.Fault {
	var all []faults.Fault
	choice := e.choice(family, name)
	for _, kind := range kinds[family] {
		switch family {
		case Crashes, Leaders:
			for _, write := range ref.writes {
				all = append(all, faults.Fault{Kind: kind, At: write.Point})
			}
		case Refusals:
			if points := refusable(kind, ref); len(points) > 0 {
				all = append(all, faults.Fault{Kind: kind, At: points[choice.IntN(len(points))]})
			}
		case Views:
			for _, view := range ref.views {
				at := faults.Point{Verb: "watch", Target: view.target, Name: "-", Nth: 1 + choice.IntN(view.last)}
				all = append(all, faults.Fault{Kind: kind, At: at})
			}
		case Slowness:
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
	if kind != faults.Refuse409 && kind != faults.Storm409 {
		points = append(points, ref.reads...)
	}
	slices.SortFunc(points, byName)
	return points
}

// choice is the seed's, for a family of faults of a scenario: others do not change it.
func (e *Explorer) choice(family Family, name string) *rand.Rand {
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
	for _, family := range Families {
		if slices.Contains(kinds[family], fault.Kind) {
			return Plan{Scenario: name, Family: family, Fault: fault}, nil
		}
	}
	return Plan{}, fmt.Errorf("plan %q: %s is of no family", text, fault.Kind)
}
