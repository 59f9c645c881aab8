package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/scenario"
)

// learn makes the references of all scenarios, or of the named ones, that have none yet.
func (e *Explorer) learn(ctx context.Context, names ...string) error {
	failures := make([]error, len(e.Scenarios))
	for again := true; again; {
		again = false
		alone := e.places.needed.Load()
		var learning sync.WaitGroup
		for i, s := range e.Scenarios {
			if e.isLearnt(s.Name) || failures[i] != nil || len(names) > 0 && !slices.Contains(names, s.Name) {
				continue
			}
			again = true // what is learnt last may show that the others need a control plane alone
			learning.Go(func() { failures[i] = e.learnOne(ctx, s) })
		}
		learning.Wait()
		if alone != e.places.needed.Load() {
			clear(failures)
		}
	}
	return cmp.Or(failures...) // one is enough: a common cause fails all of them
}

// isLearnt tells whether a scenario has a reference that runs from now on can be compared with.
func (e *Explorer) isLearnt(name string) bool {
	ref := e.reference(name)
	return ref != nil && ref.alone == e.places.needed.Load()
}

// learnOne makes the reference of a scenario from runs that are alike: on the shared control plane, or with one alone.
func (e *Explorer) learnOne(ctx context.Context, s scenario.Scenario) error {
	e.slots <- struct{}{}
	defer func() { <-e.slots }()
	for {
		alone := e.places.needed.Load()
		ref, err := e.learnScenario(ctx, s)
		switch {
		case alone != e.places.needed.Load():
			continue
		case err != nil:
			e.mu.Lock()
			delete(e.references, s.Name) // it cannot be learnt where runs are played now
			e.mu.Unlock()
			return err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.references[s.Name] = ref
		e.share(&oracle.Nondeterminism{})
		e.noteRandom(s.Name, ref.random)
		return nil
	}
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
// has two values may have shown one of them alone in all runs of a scenario.
func (e *Explorer) share(known *oracle.Nondeterminism) {
	for _, ref := range e.references {
		for _, state := range ref.states() {
			known.Adopt(&state.Nondeterminism)
		}
	}
	for _, ref := range e.references {
		for _, state := range ref.states() {
			state.Adopt(known)
		}
	}
}
