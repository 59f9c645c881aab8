// Package terminal writes what a person reads while something runs: lines of progress, of which a terminal has the last one
// redrawn, and colours. Without a terminal, and with NO_COLOR or TERM=dumb, it writes plain lines.
package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// isTerminal tells whether a person reads out on a terminal that understands escape sequences, and wants them.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// width is how many characters a line of a terminal has.
func width(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return usualWidth
}

const usualWidth = 80

// How often work that lasts says how far it is: often enough on a terminal to look alive, and seldom enough elsewhere
// to keep a log readable.
const (
	terminalInterval = 250 * time.Millisecond
	logInterval      = 20 * time.Second
	// statusInterval is logInterval for Status, which tells of something new each time.
	statusInterval = 5 * time.Second
)

// Log tells of progress, in lines that begin with a title.
type Log struct {
	title   string
	redraws bool
	mu      sync.Mutex
	out     io.Writer
	status  string    // the line without end
	told    time.Time // when Status last wrote a line
}

// NewLog returns a log that writes to out; nil discards it. It may be used by several goroutines.
func NewLog(title string, out io.Writer) *Log {
	if out == nil {
		out = io.Discard
	}
	return &Log{title: title, out: out, redraws: isTerminal(out), told: time.Now()}
}

// Printf writes a line.
func (l *Log) Printf(format string, args ...any) {
	l.write(fmt.Sprintf("%-10s %s\n", l.title, fmt.Sprintf(format, args...)))
}

// Status tells how far something is. On a terminal it is the last line, which later lines push down and the next Status
// replaces; elsewhere it is a line every few seconds. An empty text removes it.
func (l *Log) Status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := ""
	if text != "" {
		line = fmt.Sprintf("%-10s %s", l.title, text)
	}
	switch {
	case l.redraws:
		runes := []rune(line)
		l.status = string(runes[:min(len(runes), width(l.out)-1)])
		fmt.Fprint(l.out, clearLine, l.status)
	case line != "" && time.Since(l.told) >= statusInterval:
		l.told = time.Now()
		fmt.Fprintln(l.out, line)
	}
}

// clearLine goes to the beginning of the last line and empties it.
const clearLine = "\r\033[K"

// write writes above the line that has no end yet.
func (l *Log) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.redraws {
		text = clearLine + text + l.status
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
