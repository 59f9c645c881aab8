package explore

import (
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

// progress shows how many runs have ended, and prints those that failed.
type progress struct {
	log  *terminal.Log
	what string // the counted items, for example "plans"

	mu                  sync.Mutex
	start               time.Time
	total, done, failed int
}

func (p *progress) expect(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == 0 {
		p.start = time.Now()
	}
	p.total += more
}

// add counts a run. failure is empty for runs that passed and for runs that confirm failures.
func (p *progress) add(failure string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if failure != "" {
		p.failed++
		p.log.Printf("✗ %s", failure)
	}
	failed := ""
	if p.failed > 0 {
		failed = fmt.Sprintf(" %d failed,", p.failed)
	}
	each := time.Since(p.start) / time.Duration(p.done)
	left := each * time.Duration(p.total-p.done)
	p.log.Status(fmt.Sprintf("%d of %d %s,%s %.1f/s, about %s left", p.done, p.total, p.what, failed, 1/each.Seconds(), left.Round(time.Second)))
}

func (p *progress) end() { p.log.Status("") }
