package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run is what happened in one run of a scenario. All times are milliseconds since Start, the beginning of the scenario's
// first step; what came before is negative.
type Run struct {
	Start time.Time `json:"start"`
	Ended float64   `json:"ended"`
	// Triggered is when the fault first applied, and Second the second one of a pair; nil if it did not.
	Triggered *float64   `json:"triggered,omitempty"`
	Second    *float64   `json:"second,omitempty"`
	Steps     []Step     `json:"steps,omitempty"`
	Instances []Instance `json:"instances,omitempty"`
	Requests  []Request  `json:"requests,omitempty"`
	// Omitted is how many more requests there were, each like many of those that are kept.
	Omitted  int       `json:"omitted,omitempty"`
	Versions []Version `json:"versions,omitempty"`
	// Withheld are the intervals in which a watch delivered nothing, or a write was kept back.
	Withheld []Withheld `json:"withheld,omitempty"`
	// Log are the lines of the operator's log around the fault, or its last ones.
	Log []LogLine `json:"log,omitempty"`
}

// Step is a step of the scenario, or what the explorer waits for before and after.
type Step struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// IsAction tells an action from a state that is waited for.
	IsAction bool `json:"action,omitempty"`
	// Failed is the error, if the step failed.
	Failed string `json:"failed,omitempty"`
}

// Instance is one start of the operator.
type Instance struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// End says how it ended: "crashed" by the fault, "exited" by itself, or "stopped" with the run.
	End string `json:"end"`
}

// How an instance ends.
const (
	Crashed = "crashed"
	Exited  = "exited"
	Stopped = "stopped"
)

// Request is one request of the operator.
type Request struct {
	At   float64 `json:"at"`
	Took float64 `json:"took"`
	Verb string  `json:"verb"`
	// Target is the resource, with group and subresource: "deployments.apps/status".
	Target string `json:"target"`
	Name   string `json:"name,omitempty"`
	// Status is the HTTP status; 0 without an answer.
	Status int `json:"status"`
	// Message is what the API server says about an error.
	Message string `json:"message,omitempty"`
}

// IsWrite tells whether the request is to change something.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "apply", "delete", "deletecollection"}, r.Verb)
}

// IsRefused tells whether the request got an error or no answer. That an object is not there is no error.
func (r Request) IsRefused() bool { return r.Status == 0 || r.Status >= 400 && r.Status != 404 }

// String is a line such as "create configmaps hello, 201, 3 ms", with the message of an error in the end.
func (r Request) String() string {
	status := "no answer"
	if r.Status != 0 {
		status = fmt.Sprint(r.Status)
	}
	line := fmt.Sprintf("%s, %s, %s", strings.TrimSpace(r.Verb+" "+r.Target+" "+r.Name), status, Millis(r.Took))
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

// Version is a version of an object that a watch delivered.
type Version struct {
	At   float64 `json:"at"`
	Kind string  `json:"kind"`
	Name string  `json:"name"`
	// Change is "created", "changed" or "deleted".
	Change string `json:"change"`
	// Fields are what has changed: "spec.replicas: 2 → 3". Secrets have only the paths.
	Fields []string `json:"fields,omitempty"`
}

// What happens to an object.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Withheld is an interval in which the operator's watch of a resource delivered nothing, or a write of it was kept back.
type Withheld struct {
	// Target is the resource, "*" for all of them, or the write.
	Target  string  `json:"target"`
	IsWrite bool    `json:"write,omitempty"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
}

// String says what does not arrive.
func (w Withheld) String() string {
	switch {
	case w.IsWrite:
		return "the write is kept back: " + w.Target
	case w.Target == "*":
		return "no watch delivers anything"
	}
	return "no events of " + w.Target
}

// LogLine is a line of the operator's log, with the time at which it was written.
type LogLine struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Millis is a duration in milliseconds, with as many digits as a reader needs.
func Millis(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 100_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%dm%02ds", int(ms/60_000), int(ms/1000)%60)
}
