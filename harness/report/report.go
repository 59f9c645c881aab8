// Package report prints the progress and the summary of a run of scenarios: a line per step with its duration, a
// table, and a JUnit file for programs.
//
// A person who waits for a cluster wants to see what it is waiting for, and a person who reads a CI log wants to find
// the one line that matters. So each step is printed when it ends, with its scenario's name, whatever else runs at
// the same time; and a failure prints what was seen last, the folder with artifacts, and the command to run it again.
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

// Report is the report of one run. Several scenarios may use it at once.
type Report struct {
	out     io.Writer
	painter terminal.Painter
	mu      sync.Mutex
	suite   results.Suite
}

// New returns a report that prints to out, in colour if out is a terminal and NO_COLOR is not set.
func New(out io.Writer) *Report {
	return &Report{out: out, painter: terminal.PainterFor(out), suite: results.Suite{Started: time.Now()}}
}

// Write prints the progress of others between the report's own lines.
func (r *Report) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

// Phase prints a phase of the setup, such as "cluster", with its duration.
func (r *Report) Phase(name string, took time.Duration, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suite.Phases = append(r.suite.Phases, r.ended(name, took))
	r.line(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...)), took)
}

// Fail prints an error outside of any scenario. The run has failed then.
func (r *Report) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suite.Errors = append(r.suite.Errors, err.Error())
	fmt.Fprintf(r.out, "%s %s\n", r.painter.Paint(terminal.Red, "error:"), err)
}

// HasFailed tells whether anything has failed so far.
func (r *Report) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.suite.HasFailed()
}

// Skip adds a scenario that cannot run here, with the reason.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suite.Tests = append(r.suite.Tests, results.Test{Name: name, Outcome: results.Skipped, Failure: reason})
}

// Run is the report of one scenario.
type Run struct {
	report *Report
	index  int // among the suite's tests
}

// Start adds a scenario that is about to run. It counts as failed until Passed is called.
func (r *Report) Start(name string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	test := results.Test{Name: name, From: r.seconds(), Outcome: results.Failed, Failure: "it did not finish"}
	r.suite.Tests = append(r.suite.Tests, test)
	return &Run{report: r, index: len(r.suite.Tests) - 1}
}

// test is what the report knows about the scenario. The caller holds the lock.
func (run *Run) test() *results.Test { return &run.report.suite.Tests[run.index] }

// Step prints a step's result.
func (run *Run) Step(result scenario.StepResult) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	test, step := run.test(), r.ended(result.Step, result.Duration)
	sign, note := r.painter.Paint(terminal.Green, "✓"), result.Detail
	if result.Err != nil {
		step.Failed, test.Failure = true, fmt.Sprintf("%s %s", result.Step, result.Err)
		sign, note = r.painter.Paint(terminal.Red, "✗"), ""
	}
	test.Steps = append(test.Steps, step)
	r.line(fmt.Sprintf("%-*s %s %-32s %s", nameWidth, test.Name, sign, result.Step, note), result.Duration)
	if result.Err != nil {
		r.indent(result.Err.Error())
	}
}

// HasFailed tells whether a step has failed, or the scenario has not ended.
func (run *Run) HasFailed() bool {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	return run.test().Outcome == results.Failed
}

// Passed ends a scenario that passed.
func (run *Run) Passed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	test := run.test()
	test.Outcome, test.Failure, test.Seconds = results.Passed, "", run.report.seconds()-test.From
}

// Failed ends a scenario that failed. It prints where its artifacts are, and the command that runs it again, unless they
// are empty.
func (run *Run) Failed(artifacts, rerun string) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	test := run.test()
	test.Artifacts, test.Rerun, test.Seconds = artifacts, rerun, r.seconds()-test.From
	for _, line := range test.Details() {
		r.indent(line)
	}
}

// seconds is how long the report has been open.
func (r *Report) seconds() float64 { return time.Since(r.suite.Started).Seconds() }

// ended is a step that ends now.
func (r *Report) ended(name string, took time.Duration) results.TestStep {
	return results.TestStep{Name: name, From: r.seconds() - took.Seconds(), Seconds: took.Seconds()}
}

// The widths of the columns, which most lines fit in.
const (
	nameWidth = 36
	lineWidth = 112
)

// line prints a text with its duration at the right.
func (r *Report) line(text string, took time.Duration) {
	fmt.Fprintf(r.out, "%-*s %7s\n", lineWidth+terminal.Invisible(text), text, rounded(took.Seconds()))
}

func (r *Report) indent(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(r.out, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

// rounded is a duration in seconds with as many digits as a reader needs.
func rounded(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%dms", int(seconds*1000))
	}
	return fmt.Sprintf("%.1fs", seconds)
}

// WriteJUnit leaves the results in a directory as a JUnit file. suite names what the scenarios ran on.
func (r *Report) WriteJUnit(dir, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.suite
	s.Name, s.Seconds = suite, r.seconds()
	return s.WriteJUnit(dir)
}
