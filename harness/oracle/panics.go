package oracle

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-assay/assay/harness/record"
)

// GoPanic is a panic of a Go program, or a fatal error of Go's runtime, that its log tells of.
type GoPanic struct {
	// Value is what it panicked with, in one line.
	Value string
	// Source is the line of the program that panicked, such as controller/web.go:42; empty if the log has no trace.
	Source string
}

// String is such as "at controller/web.go:42: index out of range".
func (p GoPanic) String() string {
	switch {
	case p.Source == "" && p.Value == "":
		return "a panic"
	case p.Source == "":
		return p.Value
	case p.Value == "":
		return "at " + p.Source
	}
	return "at " + p.Source + ": " + p.Value
}

// number is what differs in the values of one panic: an index, an address or a duration.
var number = regexp.MustCompile(`0x[0-9a-f]+|\d+(\.\d+)?(ms|s|m)?\b|\d+`)

// Masked is the panic without what differs each time: the numbers in its value. The line of the source stays.
func (p GoPanic) Masked() string {
	p.Value = number.ReplaceAllString(p.Value, "…")
	return p.String()
}

// How a log tells of a panic: Go's runtime, which crashes and prints a trace; controller-runtime and client-go, which log it
// in several formats; the error of a reconcile that was recovered; and net/http.
var (
	crash     = regexp.MustCompile(`^(?:panic|fatal error): (.*?)(?: \[recovered(?:, repanicked)?\])?$`)
	observed  = regexp.MustCompile(`Observed a panic(?: in reconciler)?(?:: (.*)|.*?"?panic"?[=:] ?("(?:[^"\\]|\\.)*"))?`)
	recovered = regexp.MustCompile(`panic: (.*?) \[recovered\]`)
	serving   = regexp.MustCompile(`http: panic serving \S+: (.*)$`)
	goroutine = regexp.MustCompile(`goroutine \d+.*\[`)
	sourceAt  = regexp.MustCompile(`^\s+(\S.*\.go:\d+)`)
)

const (
	// traceWithin is after how many lines a trace begins at most.
	traceWithin = 20
	// maxPanic is how many characters of a value are kept.
	maxPanic = 200
)

// Panics returns the panics that a log tells of, each once.
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

// panicIn returns the panic that a line tells of, with the source that it or those after it have.
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
	if found := serving.FindStringSubmatch(line); found != nil {
		return GoPanic{record.Shortened(found[1], maxPanic), sourceOf(traceIn(andAfter))}, true
	}
	if found := recovered.FindStringSubmatch(line); found != nil {
		return GoPanic{Value: record.Shortened(strings.ReplaceAll(found[1], `\"`, `"`), maxPanic)}, true
	}
	return GoPanic{}, false
}

// traceIn returns the goroutine's trace that begins in one of the first lines, which may hold all of it as JSON has it; nil if
// there is none.
func traceIn(lines []string) []string {
	for i, line := range lines[:min(len(lines), traceWithin)] {
		if begin := goroutine.FindStringIndex(line); begin != nil {
			decoded := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(line[begin[0]:])
			return append(strings.Split(decoded, "\n"), lines[i+1:]...)
		}
	}
	return nil
}

// notOperators are packages that are no operator's own, by how the names of their functions begin.
var notOperators = []string{"runtime.", "runtime/", "internal/", "reflect.", "sync.", "net/http.", "k8s.io/apimachinery/", "k8s.io/client-go/", "sigs.k8s.io/controller-runtime/"}

// sourceOf returns the first line of the operator's own in a trace, from where it panicked: below the last call of panic,
// because what is above was deferred.
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

// lastTwo is a file with its folder: what is above differs from machine to machine.
func lastTwo(file string) string {
	folder, name := path.Split(file)
	return path.Join(path.Base(path.Clean(folder)), name)
}
