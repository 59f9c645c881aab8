package explore

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/terminal"
)

// progress tells how many runs are done, and how long the others will take.
type progress struct {
	log   *terminal.Log
	what  string // that is run
	total int

	mu           sync.Mutex
	start        time.Time
	done, failed int
}

func newProgress(title string, out io.Writer, total int, what string) *progress {
	return &progress{log: terminal.NewLog(title, out), what: what, total: total, start: time.Now()}
}

// addPlan adds a plan, and tells at once if it has failed.
func (p *progress) addPlan(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !result.Passed() {
		p.failed++
		var oracles []string
		for _, finding := range result.Findings {
			oracles = append(oracles, finding.Oracle)
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

// tell adds a line to Options.Progress.
func (e *Explorer) tell(format string, args ...any) {
	if e.Progress != nil {
		fmt.Fprintf(e.Progress, format+"\n", args...)
	}
}
