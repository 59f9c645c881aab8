package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/operator-assay/assay/scripts/results"
)

// patience is how long a suite that is to end may take to tidy up.
const patience = 5 * time.Minute

// campaign is a number of runs.
type campaign struct {
	dir   string // where suites leave their results
	out   io.Writer
	rates rates
}

// run repeats the suites in turn, tells of each run as it ends, and writes the table of rates.
func (c *campaign) run(ctx context.Context, times int, suites []string) error {
	own := filepath.Join(c.dir, "flake")
	if err := os.RemoveAll(own); err != nil {
		return err
	}
	if err := os.MkdirAll(own, 0o755); err != nil {
		return err
	}
	for i := range times {
		for _, suite := range suites {
			log := filepath.Join(own, fmt.Sprintf("%s-%d.log", suite, i+1))
			began := time.Now()
			all, err := c.once(ctx, suite, log)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("run %d of make %s left no results: %w: see %s", i+1, suite, err, log)
			}
			c.rates.add(all)
			fmt.Fprintf(c.out, "%-18s %3d of %d   %s %7.1fs\n", suite, i+1, times, tally(all), time.Since(began).Seconds())
		}
	}
	report := c.rates.markdown(times)
	fmt.Fprintf(c.out, "\n%s", report)
	if err := os.WriteFile(filepath.Join(own, "rates.md"), []byte(report), 0o644); err != nil {
		return err
	}
	if n := c.rates.flaky(); n > 0 {
		return fmt.Errorf("%d of %d tests failed at least once; what each run printed is in %s", n, len(c.rates), own)
	}
	return nil
}

// once runs a suite and reads what it has left. A suite that fails has results as well; one that fails
// without a failed test in them has failed by itself.
func (c *campaign) once(ctx context.Context, suite, log string) ([]results.Result, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	began, err := file.Stat() // the file system's clock, which results are dated by, is not the process's
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "make", suite)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = patience
	failure := command.Run()
	all, err := results.Read(c.dir, began.ModTime())
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.Join(failure, errors.New("nothing was run"))
	}
	if counts := count(all); failure != nil && counts[results.Failed] == 0 {
		all = append(all, results.Result{Tier: suite, Scenario: "the suite itself", Outcome: results.Failed})
	}
	return all, nil
}

func count(all []results.Result) map[string]int {
	counts := map[string]int{}
	for _, r := range all {
		counts[r.Outcome]++
	}
	return counts
}

func tally(all []results.Result) string {
	counts := count(all)
	var parts []string
	for _, outcome := range []string{results.Passed, results.Failed, results.Skipped} {
		parts = append(parts, fmt.Sprintf("%d %s", counts[outcome], outcome))
	}
	return strings.Join(parts, ", ")
}
