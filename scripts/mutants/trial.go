package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// trial tries mutants and keeps count.
type trial struct {
	shop   *workshop
	suites []suite
	told   *teller
}

// baseline runs the tests that mutants name on the operator as it is: each of them must pass. Mutants
// that name the same are served by one run, and all those that need no plan.
func (t *trial) baseline(ctx context.Context, selected []mutants.Mutant) error {
	for _, s := range t.suites {
		byPlan := map[string][]mutants.Mutant{}
		for _, mutant := range selected {
			if mutant.Suite == s.name {
				byPlan[mutant.Plan] = append(byPlan[mutant.Plan], mutant)
			}
		}
		for _, plan := range slices.Sorted(maps.Keys(byPlan)) {
			start := time.Now()
			came, err := s.run(ctx, t.shop.pristine(), union(byPlan[plan]), plan)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if len(came.failed) > 0 {
				return fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", s.name, came.failed[0])
			}
			for _, mutant := range byPlan[plan] {
				if !slices.ContainsFunc(came.passed, regexp.MustCompile(mutant.Tests()).MatchString) {
					return fmt.Errorf("mutant %s: %s has no test that matches %q", mutant.Name, s.name, mutant.Tests())
				}
			}
			t.told.baseline(s.name, plan, len(came.passed), time.Since(start))
		}
	}
	return nil
}

// union matches all tests that any of the mutants needs.
func union(selected []mutants.Mutant) string {
	all := map[string]bool{}
	for _, mutant := range selected {
		all[mutant.Tests()] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), "|")
}

// verdict is what became of a mutant.
type verdict struct {
	mutant mutants.Mutant
	took   time.Duration
	// killed tells that what it names has noticed it.
	killed bool
	// by is what has noticed it, of the tests that it names; empty if nothing has.
	by string
	// err is not nil when it could not be tried.
	err error
}

// tryAll tries so many mutants at a time, and tells of each as its trial ends.
func (t *trial) tryAll(ctx context.Context, selected []mutants.Mutant, procs int) error {
	start := time.Now()
	waiting := make(chan mutants.Mutant, len(selected))
	for _, mutant := range selected {
		waiting <- mutant
	}
	close(waiting)
	var verdicts []verdict
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range procs {
		workers.Go(func() {
			for mutant := range waiting {
				v := t.try(ctx, mutant)
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				verdicts = append(verdicts, v)
				t.told.verdict(v, t.shop)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.told.sum(verdicts, time.Since(start))
}

// try builds a mutant and plays what it names.
func (t *trial) try(ctx context.Context, mutant mutants.Mutant) (v verdict) {
	v.mutant = mutant
	start := time.Now()
	defer func() { v.took = time.Since(start) }()
	b, err := t.shop.bench(mutant)
	if err != nil {
		v.err = err
		return v
	}
	own := t.suites[slices.IndexFunc(t.suites, func(s suite) bool { return s.name == mutant.Suite })]
	came, err := own.run(ctx, b, mutant.Tests(), mutant.Plan, own.toTheFirst)
	if err != nil {
		v.err = err
		return v
	}
	catcher := regexp.MustCompile(mutant.CaughtBy)
	for _, f := range came.failed {
		if v.by = f.String(); catcher.MatchString(f.name) || catcher.MatchString(f.complaint) {
			v.killed = true
			v.err = b.clear()
			return v
		}
	}
	return v
}
