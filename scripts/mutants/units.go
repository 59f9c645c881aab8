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

// runTests makes tests do what schemata.Task says.
const runTests = `package %s

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
	for _, file := range own {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		if bytes.Contains(text, []byte("\nfunc TestMain(")) {
			text = packageClause.ReplaceAll(text, fmt.Appendf(nil, "$0; import schemata__ %q", module+"/test/fixtures/mutants/schemata"))
			return path.Join(tests, filepath.Base(file)), bytes.ReplaceAll(text, []byte("m.Run()"), []byte("schemata__.RunTests(m.Run)")), nil
		}
	}
	return tests + "/run_test.go", fmt.Appendf(nil, runTests, path.Base(tests), module), nil
}

// tryUnits learns which tests reach which mutants, and runs these on each, until one fails.
func (in *invention) tryUnits(ctx context.Context) error {
	begin := time.Now()
	program, err := in.bench.build(ctx, in.tests)
	if err != nil {
		return err
	}
	tests := player{in, program, in.tests, []string{"-test.timeout=20s", "-test.short"}}
	list := command(ctx, program, "-test.list=.")
	list.Dir = filepath.Join(in.shop.module(), in.tests)
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", in.tests, err)
	}
	task := &schemata.Task{Tests: strings.Fields(string(names)), Events: filepath.Join(in.bench.dir, "units.jsonl")}
	events, err := tests.learn(ctx, "units", task)
	if err != nil {
		return err
	}
	for number, tests := range reachedBy(events) {
		if f := in.fates[number]; f != nil {
			f.units = tests
		}
	}
	in.told.baseline("unit", fmt.Sprintf("%d tests", len(events)), time.Since(begin))
	return in.parallel(in.alive(), func(i int, share []*fate) error {
		var tried []*schemata.Mutant
		for _, f := range share {
			if f.mutant.Always {
				f.units = task.Tests
			}
			if len(f.units) > 0 {
				tried = append(tried, &schemata.Mutant{Number: f.mutant.Number, Functions: f.mutant.Functions, Specs: f.units})
			}
		}
		return tests.play(ctx, fmt.Sprintf("units-%d", i), &schemata.Task{Mutants: tried})
	})
}
