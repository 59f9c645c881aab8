package explore

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

// progress tells how many runs are done, and how long the others will take.
type progress struct {
	log  *terminal.Log
	what string // that is run

	mu                  sync.Mutex
	start               time.Time
	total, done, failed int
}

func newProgress(log *terminal.Log, what string) *progress {
	return &progress{log: log, what: what}
}

// expect adds runs that are still to be done.
func (p *progress) expect(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == 0 {
		p.start = time.Now()
	}
	p.total += more
}

// addPlan adds a plan, and tells at once if it has failed.
func (p *progress) addPlan(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !result.Passed() {
		p.failed++
		var oracles []string
		for _, finding := range result.Findings {
			oracles = append(oracles, string(finding.Oracle))
		}
		p.log.Printf("✗ %s: %s", result.Plan, strings.Join(oracles, ", "))
	}
	p.add(fmt.Sprintf(" %d failed,", p.failed))
}

// addRun adds a run of which nothing is told.
func (p *progress) addRun() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add("")
}

// add counts a run, with p.mu held.
func (p *progress) add(more string) {
	p.done++
	each := time.Since(p.start) / time.Duration(p.done)
	left := each * time.Duration(p.total-p.done)
	p.log.Status(fmt.Sprintf("%d of %d %s,%s %.1f/s, about %s left", p.done, p.total, p.what, more, 1/each.Seconds(), left.Round(time.Second)))
}

// end removes the line of progress.
func (p *progress) end() { p.log.Status("") }

// Log returns a log of a title in Options.Progress, whose lines and those of the explorer's other logs do not break each
// other.
func (e *Explorer) Log(title string) *terminal.Log {
	e.logging.Lock()
	defer e.logging.Unlock()
	if e.told == nil {
		e.told = terminal.NewLog("", e.Progress)
	}
	return e.told.WithTitle(title)
}

// tell adds a line to Options.Progress.
func (e *Explorer) tell(format string, args ...any) { e.Log("").Println(fmt.Sprintf(format, args...)) }
