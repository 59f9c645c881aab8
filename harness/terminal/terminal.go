// Package terminal reports progress to the user. On a terminal, it redraws the last line and uses colours. Otherwise,
// or with NO_COLOR or TERM=dumb, it writes plain lines.
package terminal

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// isTerminal reports whether out is a terminal that supports escape sequences and the user has not disabled them.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

func width(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// Intervals between progress lines. Log files get fewer lines, so that they stay readable.
const (
	terminalInterval = 250 * time.Millisecond
	logInterval      = 20 * time.Second
	// statusInterval is the minimum time between two lines that Status writes to a log file.
	statusInterval = 5 * time.Second
)

// Log writes progress lines that start with a title. It is safe for concurrent use.
type Log struct {
	title string
	*screen
}

// screen is the state shared by all logs that write to the same output.
type screen struct {
	redraws    bool
	mu         sync.Mutex
	out        io.Writer
	statuses   map[string]string // by title
	last       string            // the last line, which is redrawn
	lastStatus time.Time         // time of the last status line in a log file
}

// NewLog returns a Log that writes to out. A nil writer discards the output.
func NewLog(title string, out io.Writer) *Log {
	if out == nil {
		out = io.Discard
	}
	return &Log{title, newScreen(out, isTerminal(out))}
}

func newScreen(out io.Writer, redraws bool) *screen {
	return &screen{out: out, redraws: redraws, statuses: map[string]string{}, lastStatus: time.Now()}
}

// WithTitle returns a Log that has a different title but shares the output and status line of l.
func (l *Log) WithTitle(title string) *Log { return &Log{title, l.screen} }

// Printf writes a line that starts with the title.
func (l *Log) Printf(format string, args ...any) {
	l.Println(fmt.Sprintf("%-10s %s", l.title, fmt.Sprintf(format, args...)))
}

// Println writes a line without the title.
func (l *Log) Println(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.redraws {
		fmt.Fprint(l.out, clearLine, line, "\n", l.last)
	} else {
		fmt.Fprintln(l.out, line)
	}
}

// Status sets the status of this Log, or removes it if text is empty. On a terminal, the last line always shows the
// statuses of all logs that share it. Otherwise, Status writes a line at most every few seconds.
func (l *Log) Status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[l.title] = text
	var all []string
	for _, title := range slices.Sorted(maps.Keys(l.statuses)) {
		if l.statuses[title] != "" {
			all = append(all, fmt.Sprintf("%-10s %s", title, l.statuses[title]))
		}
	}
	line := strings.Join(all, "; ")
	switch {
	case l.redraws:
		runes := []rune(line)
		l.last = string(runes[:min(len(runes), width(l.out)-1)])
		fmt.Fprint(l.out, clearLine, l.last)
	case text != "" && time.Since(l.lastStatus) >= statusInterval:
		l.lastStatus = time.Now()
		fmt.Fprintln(l.out, line)
	}
}

const clearLine = "\r\033[K"

// During updates a status periodically until stop is called. It prints the result of describe and the elapsed time.
func (l *Log) During(describe func() string) (stop func()) {
	interval := logInterval
	if l.redraws {
		interval = terminalInterval
	}
	start, done := time.Now(), make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				l.Status(fmt.Sprintf("%s, %s", describe(), time.Since(start).Round(time.Second)))
			case <-done:
				l.Status("")
				return
			}
		}
	})
	return func() {
		close(done)
		reporting.Wait()
	}
}
