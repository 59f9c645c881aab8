package binaries

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// maxErrorLines is how much of a failed build's output an error repeats. The compiler stops at ten
// lines by itself, and the first ones say what is wrong.
const maxErrorLines = 5

// buildLog reads the output of "go build -v": a line for each module that it downloads and each package that it
// compiles, and errors.
type buildLog struct {
	mu                   sync.Mutex
	unfinished           []byte // of a line
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
	case line != "" && !strings.ContainsAny(line, " \t"): // a package's path has no blanks, a complaint has
		l.compiled++
	case len(l.complaints) < maxErrorLines:
		l.complaints = append(l.complaints, strings.TrimSpace(line))
	}
}

// String is the progress of the build.
func (l *buildLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	progress := fmt.Sprintf("%d packages compiled", l.compiled)
	if l.downloaded > 0 {
		progress = fmt.Sprintf("%d modules downloaded, %s", l.downloaded, progress)
	}
	return progress
}

// errorLines are the build's errors.
func (l *buildLog) errorLines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.complaints, "; ")
}
