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

// learn builds the missing references. If names are given, only these scenarios are learned.
func (e *Explorer) learn(ctx context.Context, names ...string) error {
	failures := make([]error, len(e.Options.Scenarios))
	for again := true; again; {
		again = false
		alone := e.environments.exclusive.Load()
		var learning sync.WaitGroup
		for i, s := range e.Options.Scenarios {
			if e.isLearnt(s.Name) || failures[i] != nil || len(names) > 0 && !slices.Contains(names, s.Name) {
				continue
			}
			again = true // the last scenario may show that all runs need their own control plane
			learning.Go(func() { failures[i] = e.learnOne(ctx, s) })
		}
		learning.Wait()
		if alone != e.environments.exclusive.Load() {
			clear(failures)
		}
	}
	return cmp.Or(failures...) // the first error is enough, because all scenarios usually fail for the same reason
}

// isLearnt reports whether the scenario has a reference that is valid for the kind of control plane that runs use
// now.
func (e *Explorer) isLearnt(name string) bool {
	ref := e.reference(name)
	return ref != nil && ref.exclusive == e.environments.exclusive.Load()
}

// learnOne builds the reference of a scenario. It starts over if the runs must switch to control planes of their own
// in the meantime.
func (e *Explorer) learnOne(ctx context.Context, s scenario.Scenario) error {
	e.slots <- struct{}{}
	defer func() { <-e.slots }()
	for {
		alone := e.environments.exclusive.Load()
		ref, err := e.learnScenario(ctx, s)
		switch {
		case alone != e.environments.exclusive.Load():
			continue
		case err != nil:
			e.mu.Lock()
			delete(e.references, s.Name) // the existing reference is for the shared control plane
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

// noteRandom reports what varies between runs, each item once. The caller must hold the lock.
func (e *Explorer) noteRandom(when string, random []string) {
	news := sets.List(sets.New(random...).Difference(e.varying))
	e.varying.Insert(news...)
	if len(news) > 0 {
		e.tell("%s: differs from run to run without any fault: %s", when, strings.Join(news, ", "))
	}
}

// share merges the nondeterminism of all references, and adds what is known from other runs. A field with two
// possible values may have had the same value in all runs of one scenario, so the other scenarios help to find it.
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
