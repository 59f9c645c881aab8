// Package report prints the progress and the summary of a scenario run, and writes a JUnit file.
//
// Each step is printed with its duration when it ends. The line starts with the scenario's name, because scenarios may
// run in parallel. If a step fails, the report shows the last observed state, the directory with artifacts and the
// command to run the scenario again.
package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/terminal"
)

// Report reports the progress of a run. It is safe for concurrent use.
type Report struct {
	out     io.Writer
	painter terminal.Painter
	mu      sync.Mutex
	suite   results.Suite
	phases  []string // with their durations
}

// New returns a Report that prints to out. The output is colored if out is a terminal and NO_COLOR is not set.
func New(out io.Writer) *Report {
	return &Report{out: out, painter: terminal.PainterFor(out), suite: results.Suite{Started: time.Now()}}
}

// Write prints the output of other components without interleaving it with lines of the report.
func (r *Report) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

// Phase prints the result of a setup phase, such as "cluster".
func (r *Report) Phase(name string, took time.Duration, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, name+" "+rounded(took.Seconds()))
	r.line(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...)), took)
}

// Fail prints an error that does not belong to a scenario, and marks the run as failed.
func (r *Report) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suite.Errors = append(r.suite.Errors, err.Error())
	fmt.Fprintf(r.out, "%s %s\n", r.painter.Paint(terminal.Red, "error:"), err)
}

// HasFailed reports whether the run has failed so far.
func (r *Report) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.suite.HasFailed()
}

// Skip records a scenario that was skipped.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suite.Tests = append(r.suite.Tests, results.Test{Name: name, Outcome: results.Skipped, Failure: reason})
}

// Run reports the progress of a scenario.
type Run struct {
	report *Report
	index  int // in suite.Tests
	start  time.Time
}

// Start records a new scenario. The scenario counts as failed until Passed is called.
func (r *Report) Start(name string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	test := results.Test{Name: name, Outcome: results.Failed, Failure: "did not finish"}
	r.suite.Tests = append(r.suite.Tests, test)
	return &Run{r, len(r.suite.Tests) - 1, time.Now()}
}

// test returns the results of the scenario. The caller must hold the lock.
func (run *Run) test() *results.Test { return &run.report.suite.Tests[run.index] }

// Step prints the result of a step.
func (run *Run) Step(result scenario.StepResult) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	test := run.test()
	test.Steps++
	sign, note := r.painter.Paint(terminal.Green, "✓"), result.Detail
	if result.Err != nil {
		test.Failure = fmt.Sprintf("%s %s", result.Step, result.Err)
		sign, note = r.painter.Paint(terminal.Red, "✗"), ""
	}
	r.line(fmt.Sprintf("%-*s %s %-32s %s", nameWidth, test.Name, sign, result.Step, note), result.Duration)
	if result.Err != nil {
		r.indent(result.Err.Error())
	}
}

// HasFailed reports whether the scenario has failed or is still running.
func (run *Run) HasFailed() bool {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	return run.test().Outcome == results.Failed
}

// Passed marks the scenario as passed.
func (run *Run) Passed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	test := run.test()
	test.Outcome, test.Failure, test.Seconds = results.Passed, "", time.Since(run.start).Seconds()
}

// Failed marks the scenario as failed. It prints the directory with the artifacts and the command to run the scenario
// again, unless they are empty.
func (run *Run) Failed(artifacts, rerun string) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	test := run.test()
	test.Artifacts, test.Rerun, test.Seconds = artifacts, rerun, time.Since(run.start).Seconds()
	for _, line := range test.Details() {
		r.indent(line)
	}
}

// Widths of the columns. Longer texts are not truncated.
const (
	nameWidth = 36
	lineWidth = 112
)

// line prints a text with a right-aligned duration.
func (r *Report) line(text string, took time.Duration) {
	fmt.Fprintf(r.out, "%-*s %7s\n", lineWidth+terminal.Invisible(text), text, rounded(took.Seconds()))
}

func (r *Report) indent(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(r.out, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

func rounded(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%dms", int(seconds*1000))
	}
	return fmt.Sprintf("%.1fs", seconds)
}

// WriteJUnit writes the results to a JUnit file in the directory. suite is the name of the test suite.
func (r *Report) WriteJUnit(dir, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.suite
	s.Name = suite
	return s.WriteJUnit(dir)
}
