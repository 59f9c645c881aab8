package explore

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/operator-assay/assay/harness/fault"
)

// Planned is a plan of an exploration.
type Planned struct {
	Plan
	// SameAs is an equivalent plan. It is the zero Plan if there is none.
	SameAs Plan
}

// Selection selects a limited number of plans. The selection is deterministic.
type Selection struct {
	// Budget is the number of plans to select. It is exceeded only for plans that failed last time and to cover every
	// fault type in every scenario.
	Budget int
	// Seed breaks ties between plans of the same priority. It can be a commit hash.
	Seed string
	// Changed reports whether the scenario or the fault of a plan has changed.
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
	type combination struct {
		scenario string
		of       fault.Type
	}
	played := map[combination]bool{}
	shuffled := slices.Clone(all)
	slices.SortStableFunc(shuffled, func(a, b Planned) int { return cmp.Compare(s.rank(a.Plan), s.rank(b.Plan)) })
	for _, plan := range shuffled {
		if slices.Contains(s.Failed, plan.String()) {
			add(plan, failedLastTime)
			played[combination{plan.Scenario, plan.Fault.Type}] = true
		}
	}
	for _, plan := range shuffled {
		if is := (combination{plan.Scenario, plan.Fault.Type}); !played[is] {
			played[is] = true
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

// Plans learns all scenarios and returns their plans.
func (e *Explorer) Plans(ctx context.Context, categories ...fault.Category) ([]Planned, error) {
	if err := e.learn(ctx); err != nil {
		return nil, err
	}
	var all []Planned
	for _, category := range categories {
		for _, plan := range e.plans(category) {
			all = append(all, Planned{plan, e.reference(plan.Scenario).sameAs(plan)})
		}
	}
	return all, nil
}

// Play plays the plans and returns their results. If ctx is canceled, it returns the results so far and the cause.
func (e *Explorer) Play(ctx context.Context, plans ...Plan) ([]Result, error) {
	var names []string
	for _, plan := range plans {
		names = append(names, plan.Scenario)
	}
	if err := e.learn(ctx, names...); err != nil {
		return nil, err
	}
	return e.playAll(ctx, plans, usual), context.Cause(ctx)
}

// sameAs returns an equivalent plan, or the zero Plan. A crash before a write is equivalent to a crash after the
// previous write if nothing changed in between, because a restarted operator knows only the state of the cluster.
func (ref *reference) sameAs(plan Plan) Plan {
	previous, known := ref.directlyAfter[plan.Fault.At]
	if plan.Fault.Type != fault.CrashBefore || !known || !slices.ContainsFunc(ref.targets, func(write fault.Write) bool { return write.RequestKey == previous }) {
		return Plan{}
	}
	return Plan{Scenario: plan.Scenario, Fault: fault.Fault{Type: fault.CrashAfter, At: previous}}
}

// directlyAfter maps each write to the previous write if no object changed in between. changes are the resource
// versions in the history of the run. All objects share one counter for resource versions, so these versions order
// all changes.
func directlyAfter(writes []fault.Write, changes []uint64) map[fault.RequestKey]fault.RequestKey {
	after := map[fault.RequestKey]fault.RequestKey{}
	for i := 1; i < len(writes); i++ {
		previous, write := asNumber(writes[i-1].ResourceVersion), asNumber(writes[i].ResourceVersion)
		between := func(change uint64) bool { return previous < change && change < write }
		if previous > 0 && previous < write && !slices.ContainsFunc(changes, between) {
			after[writes[i].RequestKey] = writes[i-1].RequestKey
		}
	}
	return after
}

// asNumber returns a resource version as a number, or 0 if it is not numeric.
func asNumber(text string) uint64 {
	version, _ := strconv.ParseUint(text, 10, 64) // 0 on error
	return version
}
