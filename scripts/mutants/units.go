package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

// operatorTests are the packages, and their names, whose tests need no control plane.
var operatorTests = [][2]string{{"operator/controller", "controller"}, {"operator", "main"}}

// runTests makes the tests of a package do what schemata.Task says.
const runTests = `package %s

import (
	"os"
	"testing"

	"%s/test/fixtures/mutants/schemata"
)

func TestMain(m *testing.M) { os.Exit(schemata.RunTests(m.Run)) }
`

// tryUnits tries the mutants by the tests of each package.
func (in *invention) tryUnits(ctx context.Context) error {
	for _, tests := range operatorTests {
		if err := in.tryUnitsOf(ctx, tests[0], tests[1]); err != nil {
			return err
		}
	}
	return nil
}

// tryUnitsOf learns which tests of a package reach which mutants, and runs these on each, until one fails.
func (in *invention) tryUnitsOf(ctx context.Context, pkg, name string) error {
	begin := time.Now()
	program, err := in.bench.build(ctx, pkg)
	if err != nil {
		return err
	}
	tests := player{in, program, pkg, []string{"-test.timeout=20s"}}
	list := command(ctx, program, "-test.list=.")
	list.Dir = filepath.Join(in.shop.module(), pkg)
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", pkg, err)
	}
	task := &schemata.Task{Tests: strings.Fields(string(names)), Events: filepath.Join(in.bench.dir, "units-"+name+".jsonl")}
	events, err := tests.learn(ctx, "units-"+name, task)
	if err != nil {
		return err
	}
	reached := reachedBy(events)
	in.told.baseline("unit "+name, fmt.Sprintf("%d tests", len(events)), time.Since(begin))
	return in.parallel(in.alive(), func(i int, share []*fate) error {
		var tried []*schemata.Mutant
		for _, f := range share {
			units := reached[f.mutant.Number]
			if f.mutant.Always {
				units = task.Tests
			}
			if len(units) > 0 {
				tried = append(tried, &schemata.Mutant{Number: f.mutant.Number, Functions: f.mutant.Functions, Specs: units})
			}
			f.units = append(f.units, units...)
		}
		return tests.play(ctx, fmt.Sprintf("units-%s-%d", name, i), &schemata.Task{Mutants: tried})
	})
}
