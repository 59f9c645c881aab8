package explore

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressEvery is how often a line tells how far the exploration is.
const progressEvery = 5 * time.Second

// progress tells how many plans are done, and how long the others may take.
type progress struct {
	out   io.Writer
	total int

	mu            sync.Mutex
	start, told   time.Time
	played, fails int
}

func newProgress(out io.Writer, total int) *progress {
	return &progress{out: out, total: total, start: time.Now(), told: time.Now()}
}

func (p *progress) done(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played++
	if len(result.Findings) > 0 {
		p.fails++
	}
	if p.out == nil || time.Since(p.told) < progressEvery {
		return
	}
	p.told = time.Now()
	remaining := time.Since(p.start) / time.Duration(p.played) * time.Duration(p.total-p.played)
	fmt.Fprintf(p.out, "%-9s %d of %d plans, %d failed, about %s to go\n", result.Fault.Kind.Family(), p.played, p.total, p.fails, remaining.Round(time.Second))
}
