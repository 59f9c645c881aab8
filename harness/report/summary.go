package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/terminal"
)

// Close prints a summary of the run. It returns an error if the run has failed or no scenario was run.
func (r *Report) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := map[string]int{}
	fmt.Fprintln(r.out)
	for _, s := range r.scenarios {
		count[s.outcome]++
		switch s.outcome {
		case results.Skipped:
			fmt.Fprintf(r.out, "%-*s %s %s\n", nameWidth, s.name, r.painter.Paint(terminal.Grey, "skipped"), s.failure)
		case results.Failed:
			first, _, _ := strings.Cut(s.failure, "\n")
			fmt.Fprintf(r.out, "%-*s %s  %7s  %s\n", nameWidth, s.name, r.painter.Paint(terminal.Red, "FAILED"), rounded(s.took), first)
		default:
			fmt.Fprintf(r.out, "%-*s %s  %7s  %d steps\n", nameWidth, s.name, r.painter.Paint(terminal.Green, "passed"), rounded(s.took), s.steps)
		}
	}
	times := rounded(time.Since(r.started)) + " in total: " + strings.Join(r.phases, ", ")
	fmt.Fprintf(r.out, "\n%s\n%d passed, %d failed, %d skipped\n", times, count[results.Passed], count[results.Failed], count[results.Skipped])
	switch {
	case count[results.Failed] > 0:
		return errors.New("the run has failed")
	case count[results.Passed] == 0:
		return errors.New("no scenario was run: change FOCUS so that it matches a scenario that this cluster supports")
	}
	return nil
}
