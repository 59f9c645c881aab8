package oracle

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-assay/assay/harness/record"
)

// GoPanic is a panic or a fatal error of the Go runtime that was found in a log.
type GoPanic struct {
	Value string // the panic value on one line
	// Source is the source line that panicked, such as controller/web.go:42. It is empty if the log has no stack trace.
	Source string
}

// String returns a string such as "at controller/web.go:42: index out of range".
func (p GoPanic) String() string {
	if p.Source == "" {
		return cmp.Or(p.Value, "a panic")
	}
	return strings.TrimSuffix("at "+p.Source+": "+p.Value, ": ")
}

// number matches indices, addresses and durations in a panic value.
var number = regexp.MustCompile(`0x[0-9a-f]+|\d+(\.\d+)?(ms|s|m)?\b|\d+`)

// Masked returns the panic as text with placeholders for numbers, which may differ between panics from the same bug.
func (p GoPanic) Masked() string {
	p.Value = number.ReplaceAllString(p.Value, "…")
	return p.String()
}

// crash matches a panic that the Go runtime prints. observed matches a panic that controller-runtime, client-go or
// net/http logs. recovered matches the error of a reconcile that panicked.
var (
	crash     = regexp.MustCompile(`^(?:panic|fatal error): (.*?)(?: \[recovered(?:, repanicked)?\])?$`)
	observed  = regexp.MustCompile(`(?:Observed a panic(?: in reconciler)?|http: panic serving \S*[^\s:])(?:: (.*)|.*?"?panic"?[=:] ?("(?:[^"\\]|\\.)*"))?`)
	recovered = regexp.MustCompile(`panic: (.*?) \[recovered\]`)
	goroutine = regexp.MustCompile(`goroutine \d+.*\[`)
	sourceAt  = regexp.MustCompile(`^\s+(\S.*\.go:\d+)`)
)

const (
	// traceWithin is the number of lines to search for the start of a stack trace, including the line of the panic.
	traceWithin = 20
	maxPanic    = 200
)

// Panics returns the distinct panics in a log.
func Panics(log string) []GoPanic {
	var all []GoPanic
	lines := strings.Split(log, "\n")
	for i, line := range lines {
		found, is := panicIn(line, lines[i:])
		if is && !slices.Contains(all, found) {
			all = append(all, found)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p GoPanic) bool {
		return p.Source == "" && slices.ContainsFunc(all, func(other GoPanic) bool { return other.Source != "" && other.Value == p.Value })
	})
}

// panicIn returns the panic on the given line. andAfter contains this and all following lines, such as a stack trace.
func panicIn(line string, andAfter []string) (GoPanic, bool) {
	if found := crash.FindStringSubmatch(line); found != nil {
		if trace := traceIn(andAfter); trace != nil {
			return GoPanic{record.Shortened(found[1], maxPanic), sourceOf(trace)}, true
		}
	}
	if found := observed.FindStringSubmatch(line); found != nil {
		value := found[1]
		if unquoted, err := strconv.Unquote(found[2]); err == nil {
			value = unquoted
		}
		return GoPanic{record.Shortened(value, maxPanic), sourceOf(traceIn(andAfter))}, true
	}
	if found := recovered.FindStringSubmatch(line); found != nil {
		return GoPanic{Value: record.Shortened(strings.ReplaceAll(found[1], `\"`, `"`), maxPanic)}, true
	}
	return GoPanic{}, false
}

// traceIn returns the stack trace that starts in the first traceWithin lines, or nil. JSON logs have it on one line.
func traceIn(lines []string) []string {
	for i, line := range lines[:min(len(lines), traceWithin)] {
		if begin := goroutine.FindStringIndex(line); begin != nil {
			decoded := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(line[begin[0]:])
			return append(strings.Split(decoded, "\n"), lines[i+1:]...)
		}
	}
	return nil
}

// notOperators lists the prefixes of functions that do not belong to the operator.
var notOperators = []string{"runtime.", "runtime/", "internal/", "reflect.", "sync.", "net/http.", "k8s.io/apimachinery/", "k8s.io/client-go/", "sigs.k8s.io/controller-runtime/"}

// sourceOf returns the first line of operator code in a stack trace. It skips all lines above the last call to panic,
// which belong to deferred functions.
func sourceOf(trace []string) string {
	first := ""
	for i := 2; i < len(trace); i += 2 {
		function := strings.TrimSpace(trace[i-1])
		at := sourceAt.FindStringSubmatch(trace[i])
		switch {
		case at == nil || strings.HasPrefix(function, "created by "):
			return first
		case strings.HasPrefix(function, "panic("):
			first = ""
		case first == "" && !slices.ContainsFunc(notOperators, func(prefix string) bool { return strings.HasPrefix(function, prefix) }):
			first = lastTwo(at[1])
		}
	}
	return first
}

// lastTwo returns the last two elements of a path. The other elements depend on the machine.
func lastTwo(file string) string {
	folder, name := path.Split(file)
	return path.Join(path.Base(path.Clean(folder)), name)
}
