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
	IsEquivalent bool // true if another plan has the same effect
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
	everyType      = "covers scenario and fault type"
	hasChanged     = "scenario or fault changed"
	filling        = "selected by the seed"
)

// Choose returns the selected plans in their original order.
func (s Selection) Choose(all []Planned) []Selected {
	shuffled := slices.Clone(all)
	slices.SortFunc(shuffled, func(a, b Planned) int { return cmp.Compare(s.rank(a.Plan), s.rank(b.Plan)) })
	reasons, covered := map[Plan]string{}, map[Plan]bool{}
	for _, plan := range shuffled {
		combination := Plan{Scenario: plan.Scenario, Fault: fault.Fault{Type: plan.Fault.Type}}
		switch {
		case slices.Contains(s.Failed, plan.String()):
			reasons[plan.Plan] = failedLastTime
		case !covered[combination]:
			reasons[plan.Plan] = everyType
		}
		covered[combination] = true
	}
	for _, reason := range []string{hasChanged, filling} {
		for _, plan := range shuffled {
			if len(reasons) < s.Budget && reasons[plan.Plan] == "" && !plan.IsEquivalent && (reason == filling || s.Changed(plan.Plan)) {
				reasons[plan.Plan] = reason
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

// rank returns a sort key. Plans that failed last time come first, and the order of the others depends on the seed.
func (s Selection) rank(plan Plan) uint64 {
	if slices.Contains(s.Failed, plan.String()) {
		return 0
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, s.Seed, strconv.Quote(plan.String()))
	return hash.Sum64()
}
