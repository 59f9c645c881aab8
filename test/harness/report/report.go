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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/scenario"
	"github.com/operator-assay/assay/test/harness/terminal"
)

// Report is the report of one run. Several scenarios may use it at once.
type Report struct {
	out     io.Writer
	painter terminal.Painter
	start   time.Time
	mu      sync.Mutex
	phases  []phase
	runs    []*Run
	errs    []error
}

// phase is work outside of scenarios: creating a cluster, building images.
type phase struct {
	name string
	from time.Time
	took time.Duration
}

// New returns a report that prints to out, in colour if out is a terminal and NO_COLOR is not set.
func New(out io.Writer) *Report {
	return &Report{
		out:     out,
		painter: terminal.PainterFor(out),
		start:   time.Now(),
	}
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
	r.phases = append(r.phases, phase{name, time.Now().Add(-took), took})
	r.line(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...)), took)
}

// Fail prints an error outside of any scenario. The run has failed then.
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

// Run is the report of one scenario.
type Run struct {
	report   *Report
	name     string
	start    time.Time
	duration time.Duration
	steps    []step
	details  []detail
	failure  string
	skipped  string
}

// detail is what a failure has besides: where its artifacts are, or the command that runs it again.
type detail struct{ what, text string }

func (d detail) String() string { return fmt.Sprintf("%-11s %s", d.what, d.text) }

// step is a step that has ended.
type step struct {
	scenario.StepResult
	ended time.Time
}

func (run *Run) failed() bool { return run.failure != "" }

// Start adds a scenario that is about to run. It counts as failed until Passed is called.
func (r *Report) Start(name string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := &Run{report: r, name: name, start: time.Now(), failure: "it did not finish"}
	r.runs = append(r.runs, run)
	return run
}

// Step prints a step's result. After a failed one, AddDetail may add to it.
func (run *Run) Step(result scenario.StepResult) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	run.steps = append(run.steps, step{result, time.Now()})
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
	d := detail{what, text}
	run.details = append(run.details, d)
	r.indent(d.String())
}

// HasFailed tells whether a step has failed.
func (run *Run) HasFailed() bool {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	return run.failed()
}

// Passed ends a scenario that passed.
func (run *Run) Passed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	run.failure, run.duration = "", time.Since(run.start)
}

// Failed ends a scenario that failed.
func (run *Run) Failed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	run.duration = time.Since(run.start)
}

// Skip adds a scenario that cannot run here, with the reason.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, &Run{report: r, name: name, skipped: reason})
}

// The widths of the columns, which most lines fit in.
const (
	nameWidth = 36
	lineWidth = 112
)

// line prints a text with its duration at the right.
func (r *Report) line(text string, took time.Duration) {
	fmt.Fprintf(r.out, "%-*s %7s\n", lineWidth+terminal.Invisible(text), text, rounded(took))
}

func (r *Report) indent(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(r.out, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

// rounded is a duration with as many digits as a reader needs.
func rounded(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
