package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

const pairs = "pairs"

// families lists the fault types that are combined into pairs. In each pair, the second fault affects an operator that
// is still recovering from the first.
var families = []struct{ first, then fault.Type }{
	{fault.CrashAfter, fault.CrashAfter},    // a crash during the recovery from a crash
	{fault.CrashAfter, fault.ErrorBurst503}, // an unavailable API server during the recovery from a crash
	{fault.LostResponse, fault.Stale},       // neither the response nor the watch shows the write
	{fault.Stale, fault.LostResponse},       // an outdated view, followed by a write with an unknown outcome
}

type pairExplorer struct{ e *Explorer }

// ExplorePairs runs at most the given number of fault pairs and returns their results together with those in played.
// Each pair adds a second fault to a plan that has passed. The second fault is injected at a write that the operator
// sent between the first fault and the next action of the scenario, or it pauses the watch on the resource that the
// first fault affected. Options.Seed determines the selection.
//
// If one of the two faults causes the same failure on its own, the plan with only that fault is reported instead of the
// pair. If ctx is canceled, ExplorePairs returns the results so far and the cause.
func (e *Explorer) ExplorePairs(ctx context.Context, played []Result, number int) ([]Result, error) {
	x := pairExplorer{e}
	chosen := x.choose(number)
	plans := x.extend(played, chosen)
	e.printf("running %d of %d fault pairs; a pair is skipped if its first plan failed or belongs to another shard, or if there is no suitable second fault", len(plans), len(chosen))
	return x.shrink(ctx, played, e.playAll(ctx, plans, usual)), context.Cause(ctx)
}

// extend sets the request or watch for the second fault of each pair. It omits pairs for which there is no suitable
// one, and pairs whose first fault was not injected in a passing run.
func (x pairExplorer) extend(played []Result, chosen []Plan) []Plan {
	var plans []Plan
	for _, pair := range chosen {
		i := slices.IndexFunc(played, isPlan(Plan{Scenario: pair.Scenario, Fault: pair.Fault}))
		if i >= 0 && played[i].Triggered && played[i].Passed() && x.complete(&pair, played[i].writesAfter) {
			plans = append(plans, pair)
		}
	}
	return plans
}

func isPlan(plan Plan) func(Result) bool {
	return func(result Result) bool { return result.Plan == plan }
}

// choose returns at most the given number of pairs, spread evenly over the scenarios. It sets only the type of the
// second fault. The choice depends only on the references and the seed, so all shards choose the same pairs.
func (x pairExplorer) choose(number int) []Plan {
	all := map[string][]Plan{}
	for _, family := range families {
		for _, plan := range x.e.planner.plans(family.first.Category()) {
			if plan.Fault.Type == family.first {
				plan.Then.Type = family.then
				all[plan.Scenario] = append(all[plan.Scenario], plan)
			}
		}
	}
	longest := 0
	for name, some := range all {
		x.e.planner.random(pairs, name).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		longest = max(longest, len(some))
	}
	var chosen []Plan
	for nth := range longest {
		for _, s := range x.e.planner.options.Scenarios {
			if some := all[s.Name]; nth < len(some) && len(chosen) < number {
				chosen = append(chosen, some[nth])
			}
		}
	}
	return chosen
}

// complete chooses the request or watch for the second fault. It returns false if none is suitable.
func (x pairExplorer) complete(plan *Plan, writesAfter []fault.RequestKey) bool {
	ref, about := x.e.learner.reference(plan.Scenario), resourceOf(plan.Fault.At)
	if plan.Then.OfWatch() {
		plan.Then.At = fault.RequestKey{Verb: "watch", Target: about, Name: "-", Nth: 1}
		return slices.ContainsFunc(ref.points.reference.Watches, func(w fault.Watch) bool { return w.Target == about })
	}
	writes := slices.Clone(writesAfter)
	if plan.Fault.OfWatch() {
		writes = slices.DeleteFunc(writes, func(key fault.RequestKey) bool { return resourceOf(key) != about })
	}
	if len(writes) == 0 {
		return false
	}
	slices.SortFunc(writes, byName) // the order of parallel writes is not deterministic
	choice := x.e.planner.random(pairs, plan.String())
	plan.Then.At = writes[choice.IntN(len(writes))]
	return true
}

func resourceOf(key fault.RequestKey) string {
	resource, _, _ := strings.Cut(key.Target, "/")
	return resource
}

// shrink appends the results of the pairs to the other results. It omits a pair if a plan with only one of its faults
// has already failed in the same way. It reruns the other failed pairs with only one fault at a time; see merge.
func (x pairExplorer) shrink(ctx context.Context, all, ofPairs []Result) []Result {
	ofPairs = slices.DeleteFunc(ofPairs, func(pair Result) bool { return slices.ContainsFunc(all, x.failsAlike(pair)) })
	ofSingles := x.playSingles(ctx, ofPairs)
	if ctx.Err() != nil {
		return slices.Concat(all, ofPairs)
	}
	return x.merge(all, ofPairs, ofSingles)
}

// merge appends the results of the pairs. If one fault of a pair is enough to cause the failure, it appends the result
// of the plan with this fault instead. If that plan belongs to another shard, merge appends neither result.
func (x pairExplorer) merge(all, ofPairs, ofSingles []Result) []Result {
	all = slices.Clone(all)
	for _, pair := range ofPairs {
		i := slices.IndexFunc(ofSingles, x.failsAlike(pair))
		if i < 0 {
			pair.NeedsBoth = pair.Triggered && !pair.Passed()
			all = append(all, pair)
			continue
		}
		single := ofSingles[i]
		was := slices.IndexFunc(all, isPlan(single.Plan))
		switch {
		case was >= 0:
			all[was] = single
		case !x.e.planner.isOfAnotherShard(single.Plan):
			all = append(all, single)
		}
	}
	return all
}

// failsAlike returns a function that reports whether a plan with only one of the pair's faults failed in the same way
// as the pair, which means that the same oracle reported a finding.
func (x pairExplorer) failsAlike(pair Result) func(Result) bool {
	singles := x.singles(pair)
	return func(one Result) bool {
		return slices.Contains(singles, one.Plan) && verdict.Alike(one.Findings, pair.Findings)
	}
}

// playSingles reruns the failed pairs with only one fault at a time.
func (x pairExplorer) playSingles(ctx context.Context, ofPairs []Result) []Result {
	var plans []Plan
	var played []Result
	for _, pair := range ofPairs {
		if !pair.Passed() && len(pair.triggers) == 1 { // only the first fault was injected
			pair.Then, pair.Triggered = fault.Fault{}, true
			played = append(played, pair)
			continue
		}
		for _, plan := range x.singles(pair) {
			if !pair.Passed() && !slices.Contains(plans, plan) {
				plans = append(plans, plan)
			}
		}
	}
	return append(played, x.e.playAll(ctx, plans, usual)...)
}

// singles returns one plan for each injected fault of the pair. A fault may have been injected into a request that
// occurs only because of the other fault. For example, it may be the fifth request, but fault-free runs send only
// three. The plan then uses the third request.
func (x pairExplorer) singles(pair Result) []Plan {
	var plans []Plan
	for _, trigger := range pair.triggers {
		single := trigger.Fault
		if !single.OfWatch() {
			key := single.At
			key.Nth = 0
			single.At.Nth = min(single.At.Nth, x.e.learner.reference(pair.Scenario).points.sent[key])
		}
		if single.At.Nth > 0 {
			plans = append(plans, Plan{Scenario: pair.Scenario, Fault: single})
		}
	}
	return plans
}
