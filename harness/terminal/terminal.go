// Package terminal writes what a person reads while something runs: lines of progress, of which a terminal has the last one
// redrawn, and colours. Without a terminal, and with NO_COLOR or TERM=dumb, it writes plain lines.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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
	title string
	*screen
}

// screen is what the logs of one output share.
type screen struct {
	redraws  bool
	mu       sync.Mutex
	out      io.Writer
	statuses []status
	last     string    // the line without end
	told     time.Time // when Status last wrote a line
}

// status is how far what has the title is.
type status struct{ title, text string }

// NewLog returns a log that writes to out; nil discards it. It may be used by several goroutines.
func NewLog(title string, out io.Writer) *Log {
	if out == nil {
		out = io.Discard
	}
	return &Log{title, &screen{redraws: isTerminal(out), out: out, told: time.Now()}}
}

// Beside returns a log of another title whose lines do not break those of this one, though both are used at once.
func (l *Log) Beside(title string) *Log { return &Log{title, l.screen} }

// Printf writes a line.
func (l *Log) Printf(format string, args ...any) {
	l.Println(fmt.Sprintf("%-10s %s", l.title, fmt.Sprintf(format, args...)))
}

// Println writes a line without the title.
func (l *Log) Println(line string) { l.write(line + "\n") }

// Status tells how far something is. On a terminal it is the last line, which later lines push down and the next Status
// replaces; elsewhere it is a line every few seconds. An empty text removes it. Logs that share their lines share this one.
func (l *Log) Status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.setStatus(status{l.title, text})
	switch {
	case l.redraws:
		runes := []rune(line)
		l.last = string(runes[:min(len(runes), width(l.out)-1)])
		fmt.Fprint(l.out, clearLine, l.last)
	case text != "" && time.Since(l.told) >= statusInterval:
		l.told = time.Now()
		fmt.Fprintln(l.out, line)
	}
}

// setStatus replaces the status of a title, and returns all of them. The caller holds the lock.
func (s *screen) setStatus(now status) string {
	isOfTitle := func(other status) bool { return other.title == now.title }
	switch at := slices.IndexFunc(s.statuses, isOfTitle); {
	case now.text == "":
		s.statuses = slices.DeleteFunc(s.statuses, isOfTitle)
	case at < 0:
		s.statuses = append(s.statuses, now)
	default:
		s.statuses[at] = now
	}
	var all []string
	for _, one := range s.statuses {
		all = append(all, fmt.Sprintf("%-10s %s", one.title, one.text))
	}
	return strings.Join(all, "; ")
}

// clearLine goes to the beginning of the last line and empties it.
const clearLine = "\r\033[K"

// write writes above the line that has no end yet.
func (l *Log) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.redraws {
		text = clearLine + text + l.last
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
