package cluster

import (
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// kindLogger forwards kind's messages about its steps and drops all other messages.
type kindLogger struct {
	log.NoopLogger // drops warnings, which are meant for users of the kind command, and errors, which kind also returns
	tell           func(format string, args ...any)
}

var _ log.Logger = kindLogger{}

// begins is the prefix of a message about a new step: " • Preparing nodes 📦 ...".
const begins = " • "

func (s kindLogger) Info(message string) {
	step, ok := strings.CutPrefix(message, begins)
	if !ok || strings.HasPrefix(step, "Ensuring node image") { // nodeImage has already reported this
		return
	}
	words := strings.TrimFunc(step, func(r rune) bool { return !unicode.IsLetter(r) })
	s.tell("%s", strings.ToLower(words[:1])+words[1:])
}

func (s kindLogger) Infof(format string, args ...any) { s.Info(fmt.Sprintf(format, args...)) }

// V drops messages above level 0.
func (s kindLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return s
}

func (s kindLogger) Enabled() bool { return true }
