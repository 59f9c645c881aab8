package cluster

import (
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// kindLogger prints kind's next step, and nothing else that kind logs.
type kindLogger struct {
	tell func(format string, args ...any)
}

var _ log.Logger = kindLogger{}

// begins marks the line of a step: " • Preparing nodes 📦  ...".
const begins = " • "

// Info prints a step.
func (s kindLogger) Info(message string) {
	step, ok := strings.CutPrefix(message, begins)
	if !ok || strings.HasPrefix(step, "Ensuring node image") { // done before
		return
	}
	words := strings.TrimFunc(step, func(r rune) bool { return !unicode.IsLetter(r) })
	s.tell("%s", strings.ToLower(words[:1])+words[1:])
}

// Infof is Info with a format.
func (s kindLogger) Infof(format string, args ...any) { s.Info(fmt.Sprintf(format, args...)) }

// V takes only what users are to see.
func (s kindLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return s
}

// Enabled is always true.
func (s kindLogger) Enabled() bool { return true }

// Warn is for users of kind's command.
func (s kindLogger) Warn(string) {}

// Warnf is for users of kind's command.
func (s kindLogger) Warnf(string, ...any) {}

// Error repeats what is also returned.
func (s kindLogger) Error(string) {}

// Errorf repeats what is also returned.
func (s kindLogger) Errorf(string, ...any) {}
