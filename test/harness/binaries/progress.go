package binaries

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// How often the progress is updated: often enough on a terminal to look alive, and seldom enough elsewhere to keep a
// log readable.
const (
	terminalInterval = 250 * time.Millisecond
	logInterval      = 20 * time.Second
)

// progressLogger prints what happens.
type progressLogger struct {
	title    string // begins each line
	out      io.Writer
	terminal bool // out can redraw its line
}

func newProgressLogger(title string, out io.Writer) *progressLogger {
	if out == nil {
		out = io.Discard
	}
	file, ok := out.(*os.File)
	return &progressLogger{title: title, out: out, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

func (t *progressLogger) line(format string, args ...any) {
	fmt.Fprintf(t.out, t.title+"  "+format+"\n", args...)
}

// during prints at an interval what describe returns and how long it takes already, until the returned function is
// called.
func (t *progressLogger) during(describe func() string) (stop func()) {
	interval := logInterval
	if t.terminal {
		interval = terminalInterval
	}
	begin, done := time.Now(), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				t.update("%s, %s", describe(), time.Since(begin).Round(time.Second))
			case <-done:
				t.erase()
				return
			}
		}
	})
	return func() {
		close(done)
		telling.Wait()
	}
}

// update replaces the line of the previous update if out is a terminal.
func (t *progressLogger) update(format string, args ...any) {
	if !t.terminal {
		t.line(format, args...)
		return
	}
	t.erase()
	fmt.Fprintf(t.out, t.title+"  "+format, args...)
}

func (t *progressLogger) erase() {
	if t.terminal {
		fmt.Fprint(t.out, "\r\033[K")
	}
}

// counter counts the bytes written to it.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
