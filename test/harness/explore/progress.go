package explore

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressEvery is the interval of the progress lines.
const progressEvery = 5 * time.Second

// progress prints how many plans are done, and estimates how long the others take.
type progress struct {
	out   io.Writer
	total int

	mu             sync.Mutex
	start, printed time.Time
	done, failed   int
}

func newProgress(out io.Writer, total int) *progress {
	return &progress{out: out, total: total, start: time.Now(), printed: time.Now()}
}

func (p *progress) add(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if !result.Passed() {
		p.failed++
	}
	if p.out == nil || time.Since(p.printed) < progressEvery {
		return
	}
	p.printed = time.Now()
	remaining := time.Since(p.start) / time.Duration(p.done) * time.Duration(p.total-p.done)
	fmt.Fprintf(p.out, "%-9s %d of %d plans, %d failed, about %s to go\n", result.Fault.Type.Category(), p.done, p.total, p.failed, remaining.Round(time.Second))
}
