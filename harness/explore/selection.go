package explore

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/operator-assay/assay/harness/fault"
)

// Planned is a plan of an exploration.
type Planned struct {
	Plan
	// SameAs is an equivalent plan, or the zero Plan.
	SameAs Plan
}

// Selection selects a limited number of plans. The selection is deterministic.
type Selection struct {
	// Budget is the number of plans to select. It is exceeded only to include the plans that failed last time and at
	// least one plan for every fault type in every scenario.
	Budget int
	// Seed breaks ties between plans of the same priority. It can be a commit hash.
	Seed string
	// Changed reports whether a plan's scenario or fault type has changed.
	Changed func(Plan) bool
	// Failed contains the plans that failed last time, in the format of Plan.String.
	Failed []string
}

// Selected is a selected plan and the reason for its selection.
type Selected struct {
	Plan
	Reason string
}

// Reasons for selecting a plan, in order of priority.
const (
	failedLastTime = "failed last time"
	everyType      = "every scenario and fault type"
	hasChanged     = "scenario or fault changed"
	filling        = "chosen by the seed"
)

// Choose returns the selected plans in their original order.
func (s Selection) Choose(all []Planned) []Selected {
	reasons := map[Plan]string{}
	add := func(plan Planned, reason string) {
		if _, chosen := reasons[plan.Plan]; !chosen {
			reasons[plan.Plan] = reason
		}
	}
	combination := func(plan Planned) Plan {
		return Plan{Scenario: plan.Scenario, Fault: fault.Fault{Type: plan.Fault.Type}}
	}
	played := map[Plan]bool{}
	shuffled := slices.Clone(all)
	slices.SortStableFunc(shuffled, func(a, b Planned) int { return cmp.Compare(s.rank(a.Plan), s.rank(b.Plan)) })
	for _, plan := range shuffled {
		if slices.Contains(s.Failed, plan.String()) {
			add(plan, failedLastTime)
			played[combination(plan)] = true
		}
	}
	for _, plan := range shuffled {
		if !played[combination(plan)] {
			played[combination(plan)] = true
			add(plan, everyType)
		}
	}
	for _, reason := range []string{hasChanged, filling} {
		for _, plan := range shuffled {
			if len(reasons) < s.Budget && plan.SameAs == (Plan{}) && (reason == filling || s.Changed(plan.Plan)) {
				add(plan, reason)
			}
		}
	}
	var chosen []Selected
	for _, plan := range all {
		if reason := reasons[plan.Plan]; reason != "" {
			chosen = append(chosen, Selected{plan.Plan, reason})
		}
	}
	return chosen
}

// rank returns the position of a plan in the order given by the seed.
func (s Selection) rank(plan Plan) uint64 {
	hash := fnv.New64a()
	fmt.Fprint(hash, s.Seed, strconv.Quote(plan.String()))
	return hash.Sum64()
}
