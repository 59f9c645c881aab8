package binaries

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// maxErrorLines is the maximum number of output lines in the error of a failed build. The compiler stops after ten
// errors, and the first ones are the most useful.
const maxErrorLines = 5

// buildLog parses the output of "go build -v". It counts the downloaded modules and compiled packages, and collects
// errors.
type buildLog struct {
	mu                   sync.Mutex
	unfinished           []byte // an incomplete line
	downloaded, compiled int
	complaints           []string
}

func (l *buildLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unfinished = append(l.unfinished, p...)
	for {
		line, rest, found := bytes.Cut(l.unfinished, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.unfinished = rest
		l.read(string(line))
	}
}

func (l *buildLog) read(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		l.downloaded++
	case line != "" && !strings.ContainsAny(line, " \t"): // package paths contain no spaces
		l.compiled++
	case len(l.complaints) < maxErrorLines:
		l.complaints = append(l.complaints, strings.TrimSpace(line))
	}
}

// String returns the progress of the build.
func (l *buildLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	progress := fmt.Sprintf("%d packages compiled", l.compiled)
	if l.downloaded > 0 {
		progress = fmt.Sprintf("%d modules downloaded, %s", l.downloaded, progress)
	}
	return progress
}

func (l *buildLog) errorLines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.complaints, "; ")
}
