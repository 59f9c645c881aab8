package explore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// learn makes the references of all scenarios, or of the named ones, that have none yet.
func (e *Explorer) learn(ctx context.Context, names ...string) error {
	alone := e.places.needed.Load()
	failures := make([]error, len(e.Scenarios))
	var learning sync.WaitGroup
	for i, s := range e.Scenarios {
		if e.reference(s.Name) != nil || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		e.slots <- struct{}{}
		learning.Go(func() {
			defer func() { <-e.slots }()
			alone := e.places.needed.Load()
			reference, err := e.learnScenario(ctx, s)
			if err == nil && alone != e.places.needed.Load() { // its runs were not alike
				reference, err = e.learnScenario(ctx, s)
			}
			if err != nil {
				failures[i] = err
				return
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			e.references[s.Name] = reference
			e.noteRandom(s.Name, reference.random)
		})
	}
	learning.Wait()
	if alone != e.places.needed.Load() {
		return e.learnAgain(ctx, names...)
	}
	e.share(&oracle.Nondeterminism{})
	for _, err := range failures {
		switch {
		case err == nil:
		case ctx.Err() != nil || !e.LeaveOut || len(names) > 0 || len(e.references) == 0:
			return err // one is enough: a common cause fails all of them
		default:
			why, _, _ := strings.Cut(err.Error(), "\n")
			e.tell("left out: %s", why)
		}
	}
	return nil
}

// noteRandom tells what differs from run to run, once. The caller holds the lock.
func (e *Explorer) noteRandom(when string, random []string) {
	news := sets.List(sets.New(random...).Difference(e.varying))
	e.varying.Insert(news...)
	if len(news) > 0 {
		e.tell("%s: differs from run to run without any fault: %s", when, strings.Join(news, ", "))
	}
}

// share has all references know of the others, and of what is known besides, what is random wherever an object is: what
// has two values may have shown one of them alone in all runs of a scenario. It is not called while plans are played.
func (e *Explorer) share(known *oracle.Nondeterminism) {
	for _, ref := range e.references {
		for _, state := range ref.states() {
			known.Adopt(&state.nondeterminism)
		}
	}
	for _, ref := range e.references {
		for _, state := range ref.states() {
			state.nondeterminism.Adopt(known)
		}
	}
}

// learnAgain makes references again that are from the shared control plane.
func (e *Explorer) learnAgain(ctx context.Context, names ...string) error {
	e.mu.Lock()
	maps.DeleteFunc(e.references, func(_ string, ref *reference) bool { return !ref.alone })
	e.mu.Unlock()
	return e.learn(ctx, names...)
}
