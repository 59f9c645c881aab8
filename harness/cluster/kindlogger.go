package cluster

import (
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// kindLogger reports the steps that kind logs, and nothing else.
type kindLogger struct {
	log.NoopLogger // of warnings, which are for users of the kind command, and of errors, which are also returned
	tell           func(format string, args ...any)
}

var _ log.Logger = kindLogger{}

// begins marks the line of a step that starts: " • Preparing nodes 📦  ...".
const begins = " • "

// Info reports a step.
func (s kindLogger) Info(message string) {
	step, ok := strings.CutPrefix(message, begins)
	if !ok || strings.HasPrefix(step, "Ensuring node image") { // which has been seen to
		return
	}
	words := strings.TrimFunc(step, func(r rune) bool { return !unicode.IsLetter(r) })
	s.tell("%s", strings.ToLower(words[:1])+words[1:])
}

// Infof is Info with a format.
func (s kindLogger) Infof(format string, args ...any) { s.Info(fmt.Sprintf(format, args...)) }

// V drops details.
func (s kindLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return s
}

// Enabled is always true.
func (s kindLogger) Enabled() bool { return true }
