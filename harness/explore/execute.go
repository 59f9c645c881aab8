package explore

import (
	"context"
	"slices"
	"sync"
)

// playAll runs the plans and returns the results in the same order. It omits interrupted plans.
func (e *Explorer) playAll(ctx context.Context, plans []Plan, how conditions) []Result {
	progress := &progress{log: e.Log("explore"), what: "plans"}
	defer progress.end()
	var mu sync.Mutex
	var played []Result
	e.playEach(ctx, plans, how, progress, func(result Result) {
		mu.Lock()
		defer mu.Unlock()
		played = append(played, result)
	})
	return inOrder(plans, played)
}

func inOrder(plans []Plan, played []Result) (ordered []Result) {
	for _, plan := range plans {
		if i := slices.IndexFunc(played, isPlan(plan)); i >= 0 {
			ordered = append(ordered, played[i])
		}
	}
	return ordered
}

func (e *Explorer) playEach(ctx context.Context, plans []Plan, how conditions, progress *progress, add func(Result)) {
	progress.expect(len(plans))
	var playing sync.WaitGroup
	for _, plan := range plans {
		e.player.slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-e.player.slots }()
			if ctx.Err() != nil {
				return
			}
			result := e.play(ctx, plan, how)
			if ctx.Err() == nil {
				add(result)
				progress.add(result.failure())
			}
		})
	}
	playing.Wait()
}

func (e *Explorer) replayChance(ctx context.Context, all []Result, how conditions) {
	var plans []Plan
	for _, result := range all {
		if result.differsByChance() {
			plans = append(plans, result.Plan)
		}
	}
	for _, again := range e.playAll(ctx, plans, how) {
		if ctx.Err() == nil {
			all[slices.IndexFunc(all, isPlan(again.Plan))] = again
		}
	}
}
