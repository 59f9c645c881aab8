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

	mu        sync.Mutex
	phases    []string // with their durations
	scenarios []*Scenario
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

// Fail prints an error that does not belong to a scenario, and records it as a failed scenario.
func (r *Report) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scenarios = append(r.scenarios, &Scenario{name: "outside of any scenario", outcome: results.Failed, failure: err.Error()})
	fmt.Fprintf(r.out, "%s %s\n", r.painter.Paint(terminal.Red, "error:"), err)
}

// HasFailed reports whether Fail was called, or whether a scenario has failed or is still running.
func (r *Report) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.scenarios, func(s *Scenario) bool { return s.outcome == results.Failed })
}

// Skip records a scenario that was skipped.
func (r *Report) Skip(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scenarios = append(r.scenarios, &Scenario{name: name, outcome: results.Skipped, failure: reason})
}

// Scenario reports the progress of a scenario.
type Scenario struct {
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
func (r *Report) Start(name string) *Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Scenario{report: r, name: name, start: time.Now(), outcome: results.Failed, failure: "did not finish"}
	r.scenarios = append(r.scenarios, s)
	return s
}

// Step prints the result of a step.
func (s *Scenario) Step(result scenario.StepResult) {
	r := s.report
	r.mu.Lock()
	defer r.mu.Unlock()
	s.steps++
	fmt.Fprintf(&s.log, "STEP: %s @ %s\n", result.Step, time.Now().Add(-result.Duration).Format(types.GINKGO_TIME_FORMAT))
	sign, note := r.painter.Paint(terminal.Green, "✓"), result.Detail
	if result.Err != nil {
		s.failure = fmt.Sprintf("%s %s", result.Step, result.Err)
		sign, note = r.painter.Paint(terminal.Red, "✗"), ""
	}
	r.line(fmt.Sprintf("%-*s %s %-32s %s", nameWidth, s.name, sign, result.Step, note), result.Duration)
	if result.Err != nil {
		r.indent(result.Err.Error())
	}
}

// Passed marks the scenario as passed.
func (s *Scenario) Passed() {
	s.report.mu.Lock()
	defer s.report.mu.Unlock()
	s.outcome, s.failure, s.took = results.Passed, "", time.Since(s.start)
}

// Failed marks the scenario as failed. It prints the artifacts directory and the rerun command unless they are empty.
func (s *Scenario) Failed(artifacts, rerun string) {
	r := s.report
	r.mu.Lock()
	defer r.mu.Unlock()
	s.took = time.Since(s.start)
	for _, detail := range [][2]string{{"artifacts", artifacts}, {"rerun", rerun}} {
		if detail[1] != "" {
			line := fmt.Sprintf("%-11s %s", detail[0], detail[1])
			s.details = append(s.details, line)
			r.indent(line)
		}
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
	for _, s := range r.scenarios {
		test := reporters.JUnitTestCase{Name: s.name, Classname: suite, Status: s.outcome, Time: s.took.Seconds(), SystemErr: s.log.String()}
		switch s.outcome {
		case results.Skipped:
			test.Skipped = &reporters.JUnitSkipped{Message: s.failure}
		case results.Failed:
			test.Failure = &reporters.JUnitFailure{Message: strings.Join(append([]string{s.failure}, s.details...), "\n"), Type: results.Failed}
		}
		all.TestCases = append(all.TestCases, test)
	}
	return results.WriteJUnit(dir, all)
}
