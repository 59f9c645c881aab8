package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

const (
	// specTests is the package whose specs need a control plane.
	specTests = "test/integration"
	// specTimeout is what a spec waits for a state that a mutant may keep from coming.
	specTimeout = 4 * time.Second
	// triedAlone is by how many specs a mutant is tried before it is tried together with others.
	triedAlone = 3
)

// rounds are up to what time specs run in one: the fast ones first.
var rounds = []time.Duration{2 * time.Second, time.Hour}

// partsOfChange is into how many parts the suite is split to try a change: one part after the other, each spread over the whole
// suite, until no mutant is alive. Learning costs as much as trying, and a whole run needs every spec for some mutant anyway.
const partsOfChange = 6

// trySpecs learns which specs reach which mutants, and runs them on those that are alive.
func (in *invention) trySpecs(ctx context.Context) error {
	program, err := in.bench.build(ctx, specTests)
	if err != nil {
		return err
	}
	specs := player{in, program, specTests, []string{"-ginkgo.no-color", "-ginkgo.succinct", "-ginkgo.silence-skips",
		"-ginkgo.flake-attempts=1000000", "-ginkgo.timeout=6h"}}
	parts := 1
	if in.since != nil && in.most == 0 { // SPECS are picked from the whole suite
		parts = partsOfChange
	}
	defer in.progress("integration")()
	tried := map[int]*schemata.Mutant{}
	for part := 0; part < parts && len(in.aliveCode()) > 0; part++ {
		learnt, err := specs.learnPart(ctx, part, parts)
		if err != nil {
			return err
		}
		if err := specs.tryPart(ctx, part, learnt, tried); err != nil {
			return err
		}
	}
	return nil
}

// tryPart runs the specs of a part of the suite on the mutants that they reach, in rounds.
func (p player) tryPart(ctx context.Context, part int, learnt []schemata.Event, tried map[int]*schemata.Mutant) error {
	took := map[string]time.Duration{}
	var all []string
	for _, event := range learnt {
		took[event.Spec] = event.Took
		all = append(all, event.Spec)
	}
	reached := reachedBy(learnt)
	for number, f := range p.fates {
		if f.mutant.Always {
			reached[number] = all
		}
		f.specs = append(f.specs, reached[number]...)
	}
	for i, limit := range rounds {
		err := p.parallel(p.aliveCode(), func(process int, share []*fate) error {
			task := &schemata.Task{Alone: triedAlone, Timeout: specTimeout}
			for _, f := range share {
				m := p.taskOf(tried, f)
				m.Specs = slices.DeleteFunc(spread(reached[f.mutant.Number], p.most), func(spec string) bool {
					return took[spec] > limit || i > 0 && took[spec] <= rounds[i-1]
				})
				if len(m.Specs) > 0 {
					task.Mutants = append(task.Mutants, m)
				}
			}
			return p.play(ctx, fmt.Sprintf("specs-%d-%d-%d", part, i, process), task)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// taskOf is what is to be done with a mutant, of all rounds.
func (in *invention) taskOf(tried map[int]*schemata.Mutant, f *fate) *schemata.Mutant {
	in.mu.Lock()
	defer in.mu.Unlock()
	if tried[f.mutant.Number] == nil {
		tried[f.mutant.Number] = &schemata.Mutant{Number: f.mutant.Number, Functions: f.mutant.Functions}
	}
	return tried[f.mutant.Number]
}

// spread picks so many specs at the most, from everywhere in the suite; 0 is all.
func spread(specs []string, most int) []string {
	if most == 0 || len(specs) <= most {
		return slices.Clone(specs)
	}
	var picked []string
	for i := range most {
		picked = append(picked, specs[i*len(specs)/most])
	}
	return picked
}

// learnPart runs each spec of a part of the suite on the operator as it is. Processes share them.
func (p player) learnPart(ctx context.Context, part, parts int) ([]schemata.Event, error) {
	begin := time.Now()
	learnt := make([][]schemata.Event, p.procs)
	err := p.parallel(nil, func(process int, _ []*fate) (err error) {
		name := fmt.Sprintf("learn-%d-%d", part, process)
		task := &schemata.Task{Part: part*p.procs + process, Parts: parts * p.procs, Timeout: 3 * specTimeout, Events: filepath.Join(p.bench.dir, name+".jsonl")}
		learnt[process], err = p.learn(ctx, name, task, "-ginkgo.flake-attempts=1")
		return err
	})
	all := slices.Concat(learnt...)
	if err == nil {
		p.told.baseline("integration", fmt.Sprintf("%d specs, part %d of %d of the suite", len(all), part+1, parts), time.Since(begin))
	}
	return all, err
}
