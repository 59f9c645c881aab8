// Package report tells a run of scenarios while it happens, and sums it up in the end: a line per
// step with how long it took, a table, and a JUnit file for whoever reads results by machine.
//
// A person who waits for a cluster wants to see what it is waiting for, and a person who reads a
// log of CI wants to find the one line that matters. So each step is told as it ends, under its
// scenario's name, whatever else runs at the same time; and a failure says what was last seen, where
// the artifacts are, and what to type to have it again.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/scenario"
	"github.com/operator-assay/assay/test/harness/terminal"
)

// Report is one run's. It may be told of several scenarios at once.
type Report struct {
	out     io.Writer
	painter terminal.Painter
	start   time.Time
	mu      sync.Mutex
	phases  []phase
	runs    []*Run
	errs    []error
}

// phase is work that is no scenario: a cluster that is made, images that are built.
type phase struct {
	name string
	took time.Duration
}

// New is a report that tells out what happens, in colour where that is a terminal and NO_COLOR is
// not set.
func New(out io.Writer) *Report {
	return &Report{
		out:     out,
		painter: terminal.PainterFor(out),
		start:   time.Now(),
	}
}

// Write lets others tell of their progress between the report's own lines.
func (r *Report) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

// Phase tells of work that made a part of the scenarios' world: "cluster", and what became of it.
func (r *Report) Phase(name string, took time.Duration, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, phase{name, took})
	r.line(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...)), took)
}

// Fail tells of something that went wrong outside of any scenario. The run has failed then.
func (r *Report) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
	fmt.Fprintf(r.out, "%s %s\n", r.painter.Paint(terminal.Red, "error:"), err)
}

// HasFailed tells whether anything has failed so far.
func (r *Report) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errs) > 0 || slices.ContainsFunc(r.runs, (*Run).failed)
}

// Run is what becomes of one scenario.
type Run struct {
	report   *Report
	name     string
	start    time.Time
	duration time.Duration
	steps    int
	failure  string
	skipped  string
}

func (run *Run) failed() bool { return run.failure != "" }

// Start tells that a scenario is about to be played. One that was told of nothing else counts as
// failed, since it came to no end.
func (r *Report) Start(name string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := &Run{report: r, name: name, start: time.Now(), failure: "it came to no end"}
	r.runs = append(r.runs, run)
	return run
}

// Step tells what became of a step. After a failed one, more may be said by Explain.
func (run *Run) Step(result scenario.StepResult) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	run.steps++
	sign, note := r.painter.Paint(terminal.Green, "✓"), result.Detail
	if result.Err != nil {
		run.failure = fmt.Sprintf("%s %s", result.Step, result.Err)
		sign, note = r.painter.Paint(terminal.Red, "✗"), ""
	}
	r.line(fmt.Sprintf("%-*s %s %-32s %s", nameWidth, run.name, sign, result.Step, note), result.Duration)
	if result.Err != nil {
		r.indent(result.Err.Error())
	}
}

// AddDetail adds a line to a failure: "artifacts", and their folder.
func (run *Run) AddDetail(what, text string) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	run.failure += fmt.Sprintf("\n%-11s %s", what, text)
	r.indent(fmt.Sprintf("%-11s %s", what, text))
}

// HasFailed tells whether a step has failed.
func (run *Run) HasFailed() bool {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	return run.failed()
}

// Passed ends a scenario well.
func (run *Run) Passed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	run.failure, run.duration = "", time.Since(run.start)
}

// Failed ends a scenario badly.
func (run *Run) Failed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	run.duration = time.Since(run.start)
}

// Skip tells of a scenario that cannot be played here, and why.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, &Run{report: r, name: name, skipped: reason})
}

// The widths of the columns: what most lines fit in.
const (
	nameWidth = 36
	lineWidth = 112
)

// line writes text, and at its right how long it took.
func (r *Report) line(text string, took time.Duration) {
	fmt.Fprintf(r.out, "%-*s %7s\n", lineWidth+terminal.Invisible(text), text, rounded(took))
}

func (r *Report) indent(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(r.out, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

// rounded is a duration as exact as a reader wants it.
func rounded(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
