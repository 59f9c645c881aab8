package explore

import (
	"context"
	"sync"

	"github.com/operator-assay/assay/harness/terminal"
)

type executor struct {
	log     func(title string) *terminal.Log
	learner *learner
	player  *player
	judge   *judge
}

// playAll runs the plans and returns the results in the same order. It omits interrupted plans.
func (x *executor) playAll(ctx context.Context, plans []Plan, how conditions) []Result {
	progress := newProgress(x.log("explore"), "plans")
	defer progress.end()
	var byPlan sync.Map
	x.playEach(ctx, plans, how, progress, func(result Result) { byPlan.Store(result.Plan, result) })
	var played []Result
	for _, plan := range plans {
		if result, is := byPlan.Load(plan); is {
			played = append(played, result.(Result))
		}
	}
	return played
}

// playEach runs the plans in the available slots and calls add with each result. Interrupted plans are omitted.
func (x *executor) playEach(ctx context.Context, plans []Plan, how conditions, progress *progress, add func(Result)) {
	progress.expect(len(plans))
	var playing sync.WaitGroup
	for _, plan := range plans {
		x.player.slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-x.player.slots }()
			if ctx.Err() != nil {
				return
			}
			result := x.play(ctx, plan, how)
			if ctx.Err() == nil {
				add(result)
				progress.addPlan(result)
			}
		})
	}
	playing.Wait()
}

// replayChance reruns the plans for which Result.differsByChance returns true, and replaces their results.
func (x *executor) replayChance(ctx context.Context, all []Result, how conditions) {
	var indices []int
	var plans []Plan
	for i, result := range all {
		if result.differsByChance() {
			indices, plans = append(indices, i), append(plans, result.Plan)
		}
	}
	for _, again := range x.playAll(ctx, plans, how) {
		for _, i := range indices {
			if ctx.Err() == nil && all[i].Plan == again.Plan {
				all[i] = again
			}
		}
	}
}
