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

	"golang.org/x/sync/errgroup"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// trial tries mutants and keeps count.
type trial struct {
	shop   *workshop
	suites []suite
	told   *teller
}

// baseline runs the tests that mutants name on the operator as it is: each of them must pass. In each suite
// one run serves all mutants that need a plan, and one the others.
func (t *trial) baseline(ctx context.Context, selected []mutants.Mutant) error {
	for _, s := range t.suites {
		for _, planned := range []bool{false, true} {
			served := slices.DeleteFunc(slices.Clone(selected), func(m mutants.Mutant) bool {
				return m.Suite != s.name || (m.Plan != "") != planned
			})
			if err := t.passes(ctx, s, served); err != nil {
				return err
			}
		}
	}
	return nil
}

// passes runs what these mutants name of a suite, all at once.
func (t *trial) passes(ctx context.Context, s suite, served []mutants.Mutant) error {
	if len(served) == 0 {
		return nil
	}
	start := time.Now()
	tests, plans := union(served, "|", mutants.Mutant.Tests), union(served, ";", func(m mutants.Mutant) string { return m.Plan })
	came, err := s.run(ctx, t.shop.pristine(), tests, plans)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if len(came.failed) > 0 {
		return fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", s.name, came.failed[0])
	}
	for _, mutant := range served {
		if !slices.ContainsFunc(came.passed, regexp.MustCompile(mutant.Tests()).MatchString) {
			return fmt.Errorf("mutant %s: %s has no test that matches %q", mutant.Name, s.name, mutant.Tests())
		}
	}
	what := fmt.Sprintf("%d tests", len(came.passed))
	if plans != "" {
		what = fmt.Sprintf("%d plans", 1+strings.Count(plans, ";"))
	}
	t.told.baseline(string(s.name), what+" that mutants name", time.Since(start))
	return nil
}

// union joins what the mutants name, each once.
func union(served []mutants.Mutant, separator string, named func(mutants.Mutant) string) string {
	all := map[string]bool{}
	for _, mutant := range served {
		all[named(mutant)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), separator)
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
	var verdicts []verdict
	var mu sync.Mutex
	var trials errgroup.Group
	trials.SetLimit(procs)
	for _, mutant := range selected {
		trials.Go(func() error {
			v := t.try(ctx, mutant)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				verdicts = append(verdicts, v)
				t.told.verdict(v, t.shop)
			}
			return ctx.Err()
		})
	}
	if err := trials.Wait(); err != nil {
		return err
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
	catcher := regexp.MustCompile(mutant.KilledBy)
	for _, f := range came.failed {
		if v.by = f.String(); catcher.MatchString(f.name) || catcher.MatchString(f.complaint) {
			v.killed = true
			v.err = b.clear()
			return v
		}
	}
	return v
}
