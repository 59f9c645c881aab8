package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
	"github.com/operator-assay/assay/test/harness/report/results"
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

// trySpecs learns which specs reach which mutants, and runs them on those that are alive.
func (in *invention) trySpecs(ctx context.Context) error {
	program, err := in.bench.build(ctx, specTests)
	if err != nil {
		return err
	}
	specs := player{in, program, specTests, []string{"-ginkgo.no-color", "-ginkgo.succinct", "-ginkgo.silence-skips",
		"-ginkgo.flake-attempts=1000000", "-ginkgo.timeout=6h"}}
	learnt, err := specs.learnOnce(ctx)
	if err != nil {
		return err
	}
	took := map[string]time.Duration{}
	var all []string
	for _, event := range learnt {
		took[event.Spec] = event.Took
		all = append(all, event.Spec)
	}
	by := reachedBy(learnt)
	for number, f := range in.fates {
		if f.specs = by[number]; f.mutant.Always {
			f.specs = all
		}
	}
	defer in.progress("integration")()
	tried := map[int]*schemata.Mutant{}
	for i, limit := range rounds {
		err := in.parallel(in.alive(), func(p int, share []*fate) error {
			task := &schemata.Task{Alone: triedAlone, Timeout: specTimeout}
			for _, f := range share {
				m := in.taskOf(tried, f)
				m.Specs = slices.DeleteFunc(spread(f.specs, in.most), func(spec string) bool {
					return took[spec] > limit || i > 0 && took[spec] <= rounds[i-1]
				})
				if len(m.Specs) > 0 {
					task.Mutants = append(task.Mutants, m)
				}
			}
			return specs.play(ctx, fmt.Sprintf("specs-%d-%d", i, p), task)
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

// learnOnce runs each spec on the operator as it is. What the same program has learnt before is kept.
func (p player) learnOnce(ctx context.Context) ([]schemata.Event, error) {
	begin := time.Now()
	text, err := os.ReadFile(p.program)
	if err != nil {
		return nil, err
	}
	known := p.shop.dir + fmt.Sprintf(".learnt/%x.jsonl", sha256.Sum256(text))
	if _, err := os.Stat(known); errors.Is(err, fs.ErrNotExist) {
		if err := p.learnAll(ctx, known); err != nil {
			return nil, err
		}
	}
	events, err := readEvents(known)
	if err == nil {
		p.told.baseline("integration", fmt.Sprintf("%d specs", len(events)), time.Since(begin))
	}
	return events, err
}

// learnAll has processes run a part of the specs each, and keeps in a file what they tell.
func (p player) learnAll(ctx context.Context, file string) error {
	told := make([][]byte, p.procs)
	err := p.parallel(make([]*fate, p.procs), func(part int, _ []*fate) error {
		name := fmt.Sprintf("learn-%d", part)
		task := &schemata.Task{Part: part, Parts: p.procs, Timeout: 3 * specTimeout, Events: filepath.Join(p.bench.dir, name+".jsonl")}
		_, err := p.learn(ctx, name, task, "-ginkgo.flake-attempts=1")
		if err != nil {
			return err
		}
		told[part], err = os.ReadFile(task.Events)
		return err
	})
	if err != nil {
		return err
	}
	return results.WriteFile(file, bytes.Join(told, nil))
}
