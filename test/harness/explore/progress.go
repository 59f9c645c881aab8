package explore

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/terminal"
)

// progress tells how many plans are done, how long the others will take, and which failed, as they do.
type progress struct {
	log   *terminal.Log
	total int

	mu           sync.Mutex
	start        time.Time
	done, failed int
}

func newProgress(out io.Writer, total int) *progress {
	return &progress{log: terminal.NewLog("explore", out), total: total, start: time.Now()}
}

func (p *progress) add(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if !result.Passed() {
		p.failed++
		var oracles []string
		for _, finding := range result.Findings {
			oracles = append(oracles, finding.Oracle)
		}
		p.log.Printf("✗ %s: %s", result.Plan, strings.Join(oracles, ", "))
	}
	each := time.Since(p.start) / time.Duration(p.done)
	left := each * time.Duration(p.total-p.done)
	p.log.Status(fmt.Sprintf("%d of %d plans, %d failed, %.1f/s, about %s left", p.done, p.total, p.failed, 1/each.Seconds(), left.Round(time.Second)))
}

// end removes the line of progress.
func (p *progress) end() { p.log.Status("") }
