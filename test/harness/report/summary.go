package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/harness/terminal"
)

// Close prints the summary: a table of the scenarios, the durations, and how many passed. It returns an error if the
// run has failed, or if no scenario ran.
func (r *Report) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var passed, failed, skipped int
	fmt.Fprintln(r.out)
	for _, run := range r.runs {
		switch {
		case run.skipped != "":
			skipped++
			fmt.Fprintf(r.out, "%-*s %s %s\n", nameWidth, run.name, r.painter.Paint(terminal.Grey, "skipped"), run.skipped)
		case run.failure != "":
			failed++
			first, _, _ := strings.Cut(run.failure, "\n")
			fmt.Fprintf(r.out, "%-*s %s  %7s  %s\n", nameWidth, run.name, r.painter.Paint(terminal.Red, "FAILED"), rounded(run.duration), first)
		default:
			passed++
			fmt.Fprintf(r.out, "%-*s %s  %7s  %d steps\n", nameWidth, run.name, r.painter.Paint(terminal.Green, "passed"), rounded(run.duration), len(run.steps))
		}
	}
	fmt.Fprintf(r.out, "\n%s\n%d passed, %d failed, %d skipped\n", r.times(), passed, failed, skipped)
	switch {
	case passed+failed == 0 && len(r.errs) == 0:
		return errors.New("no scenario was played: FOCUS matches none that can be played here")
	case failed > 0 || len(r.errs) > 0:
		return errors.New("the run has failed")
	default:
		return nil
	}
}

// times returns where the time went. What is neither a phase nor a scenario is left out, since nothing waits for it.
func (r *Report) times() string {
	var parts []string
	for _, phase := range r.phases {
		parts = append(parts, fmt.Sprintf("%s %s", phase.name, rounded(phase.took)))
	}
	if first, last := r.wallTime(); !first.IsZero() {
		parts = append(parts, "scenarios "+rounded(last.Sub(first)))
	}
	return fmt.Sprintf("%s in all: %s", rounded(time.Since(r.start)), strings.Join(parts, ", "))
}

// wallTime returns the start of the first scenario and the end of the last.
func (r *Report) wallTime() (first, last time.Time) {
	for _, run := range r.runs {
		if run.skipped != "" {
			continue
		}
		if first.IsZero() || run.start.Before(first) {
			first = run.start
		}
		if end := run.start.Add(run.duration); end.After(last) {
			last = end
		}
	}
	return first, last
}
