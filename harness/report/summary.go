package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/terminal"
)

// Close prints a summary of the run. It returns an error if the run has failed or no scenario was run.
func (r *Report) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := map[string]int{}
	fmt.Fprintln(r.out)
	for _, t := range r.suite.Tests {
		count[t.Outcome]++
		switch t.Outcome {
		case results.Skipped:
			fmt.Fprintf(r.out, "%-*s %s %s\n", nameWidth, t.Name, r.painter.Paint(terminal.Grey, "skipped"), t.Failure)
		case results.Failed:
			first, _, _ := strings.Cut(t.Failure, "\n")
			fmt.Fprintf(r.out, "%-*s %s  %7s  %s\n", nameWidth, t.Name, r.painter.Paint(terminal.Red, "FAILED"), rounded(t.Seconds), first)
		default:
			fmt.Fprintf(r.out, "%-*s %s  %7s  %d steps\n", nameWidth, t.Name, r.painter.Paint(terminal.Green, "passed"), rounded(t.Seconds), t.Steps)
		}
	}
	fmt.Fprintf(r.out, "\n%s\n%d passed, %d failed, %d skipped\n", r.times(), count[results.Passed], count[results.Failed], count[results.Skipped])
	switch {
	case r.suite.HasFailed():
		return errors.New("the run has failed")
	case count[results.Passed] == 0:
		return errors.New("no scenario was run: change FOCUS so that it matches a scenario that this cluster supports")
	default:
		return nil
	}
}

// times returns the total duration and that of each phase.
func (r *Report) times() string {
	return fmt.Sprintf("%s in total: %s", rounded(time.Since(r.suite.Started).Seconds()), strings.Join(r.phases, ", "))
}
