package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

// unitLimit ends a test that a mutant makes hang. All of them take a second.
const unitLimit = 20 * time.Second

func (in *invention) buildUnits(ctx context.Context) (string, error) {
	return in.bench.build(ctx, operatorTests)
}

// tryUnits learns which tests reach which mutants, and runs these on each.
func (in *invention) tryUnits(ctx context.Context, program string) error {
	begin := time.Now()
	list, err := in.unit(ctx, program, "-test.list=.").Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", operatorTests, err)
	}
	tests := strings.Fields(string(list))
	for _, test := range tests {
		reached, err := in.reachedBy(ctx, program, test)
		if err != nil {
			return err
		}
		for _, number := range reached {
			if f := in.fates[number]; f != nil {
				f.units = append(f.units, test)
			}
		}
	}
	in.told.baseline("unit", fmt.Sprintf("%d tests", len(tests)), time.Since(begin))
	in.parallel(in.alive(), func(f *fate) { in.tryUnit(ctx, program, f) })
	return ctx.Err()
}

func (in *invention) unit(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	c := command(ctx, program, append(arguments, "-test.timeout="+unitLimit.String())...)
	c.Dir = filepath.Join(in.shop.module(), operatorTests)
	return c
}

// reachedBy runs one test on the operator as it is, in a process of its own.
func (in *invention) reachedBy(ctx context.Context, program, test string) ([]int, error) {
	file := filepath.Join(in.bench.dir, "reached")
	run := in.unit(ctx, program, "-test.run=^"+regexp.QuoteMeta(test)+"$")
	run.Env = append(os.Environ(), schemata.ReachedEnv+"="+file)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", test, lastWords(out))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, word := range strings.Fields(string(text)) {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// tryUnit runs on a mutant the tests that reach it, until one fails.
func (in *invention) tryUnit(ctx context.Context, program string, f *fate) {
	tests := f.units
	if f.mutant.Always {
		tests = []string{"Test"}
	} else if len(tests) == 0 {
		return
	}
	begin := time.Now()
	run := in.unit(ctx, program, "-test.failfast", "-test.run=^("+strings.Join(tests, "|")+")")
	run.Env = append(os.Environ(), schemata.ActiveEnv+"="+choice(f.mutant).String())
	out, err := run.CombinedOutput()
	f.took += time.Since(begin)
	if err == nil || ctx.Err() != nil {
		return
	}
	f.killedBy, f.message = strings.Join(tests, "|"), lastWords(out)
	if match := failedTest.FindAllSubmatch(out, -1); match != nil {
		f.killedBy = string(match[len(match)-1][1])
	}
}

// parallel calls a function for each, so many at a time.
func (in *invention) parallel(all []*fate, do func(*fate)) {
	waiting := make(chan *fate, len(all))
	for _, f := range all {
		waiting <- f
	}
	close(waiting)
	var workers sync.WaitGroup
	for range in.procs {
		workers.Go(func() {
			for f := range waiting {
				do(f)
			}
		})
	}
	workers.Wait()
}
