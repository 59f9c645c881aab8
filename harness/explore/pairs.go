package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
)

// pairs names the random source of plans with two faults.
const pairs = "pairs"

// families are the types of faults that are paired: those of which the second meets an operator that is busy with the
// first.
var families = []struct{ first, then fault.Type }{
	{fault.CrashAfter, fault.CrashAfter},    // it crashes while it recovers from a crash
	{fault.CrashAfter, fault.ErrorBurst503}, // the API server is away while it recovers from a crash
	{fault.LostResponse, fault.Stale},       // it learns of its write neither by the response nor by its watch
	{fault.Stale, fault.LostResponse},       // it works with an old view, and does not learn what it has done
}

// pairing is a plan and what comes after its fault.
type pairing struct {
	Plan
	then fault.Type
}

// ExplorePairs plays up to a number of pairs of faults, and returns what was played before with their results. Each begins
// with a plan that was played and passed. Its second fault is at one of the writes that followed the first one then, before
// the scenario's next action, or pauses the watch of what the first one was about. Options.Seed chooses. What fails
// with one of the faults alone is told as that plan. When ctx ends, it returns the results so far and the cause.
func (e *Explorer) ExplorePairs(ctx context.Context, played []Result, number int) ([]Result, error) {
	chosen := e.pairings(number)
	var plans []Plan
	for _, p := range chosen {
		if i := slices.IndexFunc(played, isPlan(p.Plan)); i >= 0 && played[i].Triggered && played[i].Passed() {
			if plan := p.Plan; e.complete(&plan, p.then, played[i].aftermath) {
				plans = append(plans, plan)
			}
		}
	}
	e.tell("pairs of faults: %d of %d; none begins with a plan that failed, that another shard has, or after whose fault nothing is written", len(plans), len(chosen))
	return e.shrink(ctx, played, e.playAll(ctx, plans, usual)), context.Cause(ctx)
}

func isPlan(plan Plan) func(Result) bool {
	return func(result Result) bool { return result.Plan == plan }
}

// pairings are up to a number of those that there are, spread over the scenarios. They depend on the references and the
// seed alone, so that all shards choose the same.
func (e *Explorer) pairings(number int) []pairing {
	all := map[string][]pairing{}
	for _, family := range families {
		for _, plan := range e.plans(family.first.Category()) {
			if plan.Fault.Type == family.first {
				all[plan.Scenario] = append(all[plan.Scenario], pairing{plan, family.then})
			}
		}
	}
	longest := 0
	for name, some := range all {
		e.random(pairs, name).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		longest = max(longest, len(some))
	}
	var chosen []pairing
	for nth := range longest {
		for _, s := range e.Scenarios {
			if some := all[s.Name]; nth < len(some) && len(chosen) < number {
				chosen = append(chosen, some[nth])
			}
		}
	}
	return chosen
}

// complete chooses where the second fault of a pair is, and tells whether there is a place.
func (e *Explorer) complete(plan *Plan, faultType fault.Type, aftermath []fault.RequestKey) bool {
	ref, about := e.reference(plan.Scenario), resourceOf(plan.Fault.At)
	plan.Then = fault.Fault{Type: faultType}
	if plan.Then.OfWatch() {
		plan.Then.At = fault.RequestKey{Verb: "watch", Target: about, Name: "-", Nth: 1}
		return slices.ContainsFunc(ref.watched, func(w watchedResource) bool { return w.target == about })
	}
	places := slices.Clone(aftermath)
	if plan.Fault.OfWatch() {
		places = slices.DeleteFunc(places, func(key fault.RequestKey) bool { return resourceOf(key) != about })
	}
	if len(places) == 0 {
		return false
	}
	slices.SortFunc(places, byName) // an operator that works in parallel has no fixed order
	choice := e.random(pairs, plan.String())
	plan.Then.At = places[choice.IntN(len(places))]
	return true
}

// resourceOf is what a request is about, without the subresource.
func resourceOf(key fault.RequestKey) string {
	resource, _, _ := strings.Cut(key.Target, "/")
	return resource
}

// shrink returns all results with those of the pairs, but for those that fail alike with one of their faults alone: such a pair
// is told as that plan, unless it is told already, here or by another shard.
func (e *Explorer) shrink(ctx context.Context, all, ofPairs []Result) []Result {
	ofPairs = slices.DeleteFunc(ofPairs, func(pair Result) bool { return slices.ContainsFunc(all, e.isAlone(pair)) })
	again := e.playAlone(ctx, ofPairs)
	if ctx.Err() != nil {
		return slices.Concat(all, ofPairs)
	}
	all = slices.Clone(all)
	for _, pair := range ofPairs {
		i := slices.IndexFunc(again, e.isAlone(pair))
		if i < 0 {
			pair.NeedsBoth = pair.Triggered && !pair.Passed()
			all = append(all, pair)
			continue
		}
		was := slices.IndexFunc(all, isPlan(again[i].Plan))
		switch {
		case was >= 0:
			all[was] = again[i]
		case !e.isOfAnotherShard(again[i].Plan):
			all = append(all, again[i])
		}
	}
	return all
}

// isAlone tells whether a result is of one of a pair's faults alone, and fails like the pair.
func (e *Explorer) isAlone(pair Result) func(Result) bool {
	alone := e.alone(pair)
	return func(one Result) bool { return slices.Contains(alone, one.Plan) && one.failsLike(pair) }
}

// playAlone plays each fault of the pairs that failed alone.
func (e *Explorer) playAlone(ctx context.Context, ofPairs []Result) []Result {
	var plans []Plan
	var played []Result
	for _, pair := range ofPairs {
		if pair.Passed() {
			continue
		}
		for _, plan := range e.alone(pair) {
			if !slices.Contains(plans, plan) {
				plans = append(plans, plan)
			}
		}
		if len(pair.triggers) == 1 { // it was a run of the first fault
			pair.Then, pair.Triggered = fault.Fault{}, true
			played = append(played, pair)
		}
	}
	if len(plans) == 0 {
		return nil
	}
	return append(played, e.playAll(ctx, plans, usual)...)
}

// alone are the plans of a pair's faults that applied, each by itself. One at a request is at the last such request of the
// reference, if there are fewer there.
func (e *Explorer) alone(pair Result) []Plan {
	var plans []Plan
	for _, trigger := range pair.triggers {
		single := trigger.Fault
		if !single.OfWatch() {
			key := single.At
			key.Nth = 0
			single.At.Nth = min(single.At.Nth, e.reference(pair.Scenario).sent[key])
		}
		if single.At.Nth > 0 {
			plans = append(plans, Plan{Scenario: pair.Scenario, Fault: single})
		}
	}
	return plans
}

// isOfAnotherShard tells whether another shard plays a plan.
func (e *Explorer) isOfAnotherShard(plan Plan) bool {
	return !e.Shard.Has(plan.String()) && slices.Contains(e.plans(plan.Fault.Category()), plan)
}
