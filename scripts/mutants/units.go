package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

// runTests makes the tests of a package do what schemata.Task says.
const runTests = `%s

import (
	"os"
	"testing"

	"%s/test/fixtures/mutants/schemata"
)

func TestMain(m *testing.M) { os.Exit(schemata.RunTests(m.Run)) }
`

var packageClause = regexp.MustCompile(`(?m)^package \w+$`)

// runnerOf is the file, and its text, that makes the tests of a package do what schemata.Task says: that of their own
// TestMain, or another one.
func runnerOf(root, module, tests string) (name string, text []byte, err error) {
	own, err := filepath.Glob(filepath.Join(root, tests, "*_test.go"))
	if err != nil {
		return "", nil, err
	}
	var clause []byte
	for _, file := range own {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		clause = packageClause.Find(text)
		if bytes.Contains(text, []byte("\nfunc TestMain(")) {
			text = packageClause.ReplaceAll(text, fmt.Appendf(nil, "$0; import schemata__ %q", module+"/test/fixtures/mutants/schemata"))
			return path.Join(tests, filepath.Base(file)), bytes.ReplaceAll(text, []byte("m.Run()"), []byte("schemata__.RunTests(m.Run)")), nil
		}
	}
	return tests + "/run_test.go", fmt.Appendf(nil, runTests, clause, module), nil
}

// tryUnits tries the mutants by the tests of each package.
func (in *invention) tryUnits(ctx context.Context) error {
	for _, tests := range in.tests {
		if err := in.tryUnitsOf(ctx, tests); err != nil {
			return err
		}
	}
	return nil
}

// tryUnitsOf learns which tests of a package reach which mutants, and runs these on each, until one fails.
func (in *invention) tryUnitsOf(ctx context.Context, pkg string) error {
	begin, name := time.Now(), path.Base(pkg)
	program, err := in.bench.build(ctx, pkg)
	if err != nil {
		return err
	}
	tests := player{in, program, pkg, []string{"-test.timeout=20s", "-test.short"}}
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
	defer in.progress("unit " + name)()
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
