// Package terminal writes what a person reads while something runs: lines of progress, of which a terminal has the last one
// redrawn, and colours, where a terminal shows them and NO_COLOR is not set.
package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// isTerminal tells whether a person reads out.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// How often work that lasts says how far it is: often enough on a terminal to look alive, and seldom enough elsewhere
// to keep a log readable.
const (
	terminalInterval = 250 * time.Millisecond
	logInterval      = 20 * time.Second
)

// Log tells of progress, in lines that begin with a title.
type Log struct {
	title   string
	redraws bool
	mu      sync.Mutex
	out     io.Writer
}

// NewLog returns a log that writes to out; nil discards it. It may be used by several goroutines.
func NewLog(title string, out io.Writer) *Log {
	if out == nil {
		out = io.Discard
	}
	return &Log{title: title, out: out, redraws: isTerminal(out)}
}

// Printf writes a line.
func (l *Log) Printf(format string, args ...any) {
	l.write(fmt.Sprintf("%-10s %s\n", l.title, fmt.Sprintf(format, args...)))
}

// write replaces a line that has no end yet.
func (l *Log) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.redraws {
		text = "\r\033[K" + text
	}
	fmt.Fprint(l.out, text)
}

// During tells, every now and then, what describe returns and for how long it has lasted, until stop is called.
func (l *Log) During(describe func() string) (stop func()) {
	interval, end := logInterval, "\n"
	if l.redraws {
		interval, end = terminalInterval, ""
	}
	start, done := time.Now(), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				l.write(fmt.Sprintf("%-10s %s, %s%s", l.title, describe(), time.Since(start).Round(time.Second), end))
			case <-done:
				l.write("") // nothing is left of a line without end
				return
			}
		}
	})
	return func() {
		close(done)
		telling.Wait()
	}
}
