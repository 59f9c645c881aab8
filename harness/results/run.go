package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run is the timeline of one run of a scenario. All times are in milliseconds relative to Start, which is when the
// first action of the scenario began. Earlier times are negative.
type Run struct {
	Start time.Time `json:"start"`
	Ended float64   `json:"ended"`
	// Triggered and Second are the times at which the faults were first injected, or nil if they were not.
	Triggered *float64   `json:"triggered,omitempty"`
	Second    *float64   `json:"second,omitempty"`
	Steps     []Step     `json:"steps,omitempty"`
	Instances []Instance `json:"instances,omitempty"`
	Requests  []Request  `json:"requests,omitempty"`
	// Omitted is the number of requests that were dropped because there were many similar ones.
	Omitted  int       `json:"omitted,omitempty"`
	Versions []Version `json:"versions,omitempty"`
	// Withheld contains the intervals in which a watch was paused or a write was delayed.
	Withheld []Withheld `json:"withheld,omitempty"`
	// Log contains the log lines from around the time of the first fault, or the last lines if no fault was injected.
	Log []LogLine `json:"log,omitempty"`
}

// Step is a scenario step, or a wait that the explorer adds before or after the steps.
type Step struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// IsAction is true if the step is an action, and false if it waits for a state.
	IsAction bool   `json:"action,omitempty"`
	Failed   string `json:"failed,omitempty"` // error message
}

// Instance is an operator process, from its start until it exits.
type Instance struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// End is "crashed" (killed by a fault), "exited" (by itself) or "stopped" (at the end of the run).
	End string `json:"end"`
}

// Values of Instance.End.
const (
	Crashed = "crashed"
	Exited  = "exited"
	Stopped = "stopped"
)

// Request is an operator request.
type Request struct {
	At   float64 `json:"at"`
	Took float64 `json:"took"`
	Verb string  `json:"verb"`
	// Target is the resource with its group and subresource, for example "deployments.apps/status".
	Target string `json:"target"`
	Name   string `json:"name,omitempty"`
	// Status is the HTTP status code. It is 0 if there was no response.
	Status  int    `json:"status"`
	Message string `json:"message,omitempty"`
}

// IsWrite reports whether the request modifies an object.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "apply", "delete", "deletecollection"}, r.Verb)
}

// IsRefused reports whether the request failed or got no response. A 404 does not count as a failure.
func (r Request) IsRefused() bool { return r.Status == 0 || r.Status >= 400 && r.Status != 404 }

// String returns a line such as "create configmaps hello, 201, 3 ms". Errors are appended.
func (r Request) String() string {
	status := "no response"
	if r.Status != 0 {
		status = fmt.Sprint(r.Status)
	}
	line := fmt.Sprintf("%s, %s, %s", strings.TrimSpace(r.Verb+" "+r.Target+" "+r.Name), status, Millis(r.Took))
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

// Version is a version of an object.
type Version struct {
	At     float64 `json:"at"`
	Kind   string  `json:"kind"`
	Name   string  `json:"name"`
	Change string  `json:"change"`
	// Fields describes the changed fields, for example "spec.replicas: 2 → 3". For Secrets, it contains only paths.
	Fields []string `json:"fields,omitempty"`
}

// Values of Version.Change.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Withheld is an interval during which a resource watch was paused or a write was delayed.
type Withheld struct {
	// Target is the resource whose watch was paused, or "*" for all watches. For a write, it is the request key.
	Target  string  `json:"target"`
	IsWrite bool    `json:"write,omitempty"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
}

func (w Withheld) String() string {
	switch {
	case w.IsWrite:
		return "delayed write: " + w.Target
	case w.Target == "*":
		return "all watches are paused"
	}
	return "no events for " + w.Target
}

// LogLine is a timestamped line of the operator's log.
type LogLine struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Millis formats a duration in milliseconds with a suitable precision.
func Millis(ms float64) string {
	switch {
	case ms < 0:
		return "−" + Millis(-ms)
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms < 100_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%dm%02ds", int(ms/60_000), int(ms/1000)%60)
}
