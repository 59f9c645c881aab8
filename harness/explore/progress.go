package explore

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

type progress struct {
	log  *terminal.Log
	what string // the counted items, for example "plans"

	mu                  sync.Mutex
	start               time.Time
	total, done, failed int
}

func newProgress(log *terminal.Log, what string) *progress {
	return &progress{log: log, what: what}
}

func (p *progress) expect(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == 0 {
		p.start = time.Now()
	}
	p.total += more
}

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

func (p *progress) addRun() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add("")
}

// add counts a run. The caller must hold p.mu.
func (p *progress) add(more string) {
	p.done++
	each := time.Since(p.start) / time.Duration(p.done)
	left := each * time.Duration(p.total-p.done)
	p.log.Status(fmt.Sprintf("%d of %d %s,%s %.1f/s, about %s left", p.done, p.total, p.what, more, 1/each.Seconds(), left.Round(time.Second)))
}

func (p *progress) end() { p.log.Status("") }
