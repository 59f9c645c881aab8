// Package report prints the progress and the summary of a scenario run, and writes a JUnit file.
//
// Each step is printed with its duration when it ends. The line starts with the scenario's name, because scenarios may
// run in parallel. If a step fails, the report shows the last observed state, the directory with artifacts and the
// command to rerun the scenario.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/terminal"
)

// Report reports the progress of a run. It is safe for concurrent use.
type Report struct {
	out     io.Writer
	painter terminal.Painter
	started time.Time

	mu     sync.Mutex
	phases []string // with their durations
	runs   []*Run
	errors []string // errors that do not belong to a scenario
}

// New returns a Report that prints to out. The output is colored if out is a terminal and NO_COLOR is not set.
func New(out io.Writer) *Report {
	return &Report{out: out, painter: terminal.PainterFor(out), started: time.Now()}
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
	r.phases = append(r.phases, name+" "+rounded(took))
	r.line(fmt.Sprintf("%-10s %s", name, fmt.Sprintf(format, args...)), took)
}

// Fail prints an error that does not belong to a scenario, and marks the run as failed.
func (r *Report) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, err.Error())
	fmt.Fprintf(r.out, "%s %s\n", r.painter.Paint(terminal.Red, "error:"), err)
}

// HasFailed reports whether the run has failed so far.
func (r *Report) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errors) > 0 || slices.ContainsFunc(r.runs, func(run *Run) bool { return run.outcome == results.Failed })
}

// Skip records a scenario that was skipped.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, &Run{name: name, outcome: results.Skipped, failure: reason})
}

// Run reports the progress of a scenario.
type Run struct {
	report  *Report
	name    string
	start   time.Time
	took    time.Duration
	steps   int
	log     strings.Builder // the steps in the format of Ginkgo's logs
	outcome string
	failure string // the failure and the last observed state, or why the scenario was skipped
	details []string
}

// Start records a new scenario. The scenario counts as failed until Passed is called.
func (r *Report) Start(name string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := &Run{report: r, name: name, start: time.Now(), outcome: results.Failed, failure: "did not finish"}
	r.runs = append(r.runs, run)
	return run
}

// Step prints the result of a step.
func (run *Run) Step(result scenario.StepResult) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	run.steps++
	fmt.Fprintf(&run.log, "STEP: %s @ %s\n", result.Step, time.Now().Add(-result.Duration).Format(types.GINKGO_TIME_FORMAT))
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

// HasFailed reports whether the scenario has failed or is still running.
func (run *Run) HasFailed() bool {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	return run.outcome == results.Failed
}

// Passed marks the scenario as passed.
func (run *Run) Passed() {
	run.report.mu.Lock()
	defer run.report.mu.Unlock()
	run.outcome, run.failure, run.took = results.Passed, "", time.Since(run.start)
}

// Failed marks the scenario as failed. It prints the directory with the artifacts and the command to rerun the
// scenario, unless they are empty.
func (run *Run) Failed(artifacts, rerun string) {
	r := run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	run.took = time.Since(run.start)
	if artifacts != "" {
		run.details = append(run.details, "artifacts   "+artifacts)
	}
	if rerun != "" {
		run.details = append(run.details, "rerun       "+rerun)
	}
	for _, line := range run.details {
		r.indent(line)
	}
}

// Column widths. Longer text is not truncated.
const (
	nameWidth = 36
	lineWidth = 112
)

// line prints text with a right-aligned duration.
func (r *Report) line(text string, took time.Duration) {
	fmt.Fprintf(r.out, "%-*s %7s\n", lineWidth+terminal.Invisible(text), text, rounded(took))
}

func (r *Report) indent(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(r.out, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

func rounded(took time.Duration) string {
	if took < time.Second {
		return fmt.Sprintf("%dms", took.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", took.Seconds())
}

// WriteJUnit writes the results to a JUnit file in the directory. suite is the name of the test suite.
func (r *Report) WriteJUnit(dir, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := reporters.JUnitTestSuite{Name: suite, Timestamp: r.started.Format("2006-01-02T15:04:05")}
	for _, run := range r.runs {
		test := reporters.JUnitTestCase{Name: run.name, Classname: suite, Status: run.outcome, Time: run.took.Seconds(), SystemErr: run.log.String()}
		switch run.outcome {
		case results.Skipped:
			test.Skipped = &reporters.JUnitSkipped{Message: run.failure}
		case results.Failed:
			test.Failure = &reporters.JUnitFailure{Message: strings.Join(append([]string{run.failure}, run.details...), "\n"), Type: results.Failed}
		}
		all.TestCases = append(all.TestCases, test)
	}
	for i, message := range r.errors {
		all.TestCases = append(all.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("outside of any scenario (%d)", i+1), Classname: suite, Status: "error",
			Error: &reporters.JUnitError{Message: message, Type: "error"},
		})
	}
	return results.WriteJUnit(dir, all)
}
