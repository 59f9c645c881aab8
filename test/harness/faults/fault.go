package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what goes wrong.
type Kind string

// Crashes: the operator dies at a write. LostAnswer leaves it alive: the write is done, and it reads
// of a broken connection.
const (
	None        Kind = ""
	CrashBefore Kind = "crash-before"
	CrashAfter  Kind = "crash-after"
	LostAnswer  Kind = "lost-answer"
)

// LateWrite is the leader that is deposed in the middle of a write: the next one works and rests,
// and then the write arrives.
const LateWrite Kind = "late-write"

// Refusals of one request. A Storm goes on to refuse those of the same kind for stormLasts, or until the
// operator gives up and starts again.
const (
	Refuse409  Kind = "refuse-409"
	Refuse429  Kind = "refuse-429"
	Refuse500  Kind = "refuse-500"
	Refuse503  Kind = "refuse-503"
	Timeout    Kind = "timeout"
	Reset      Kind = "reset"
	Storm409   Kind = "storm-409"
	Storm503   Kind = "storm-503"
	StormReset Kind = "storm-reset"
)

// Views: the watch of a resource is held back from an action of the scenario on, until the operator
// has come to rest. Then Stale lets the events through, StaleRestart first has the operator start
// again with the old list, and Missed ends the watch with 410, so that the operator lists anew and
// never learns what was in between.
const (
	Stale        Kind = "stale"
	StaleRestart Kind = "stale-restart"
	Missed       Kind = "missed"
)

// Slowness: every read or write takes slowness longer.
const (
	SlowReads  Kind = "slow-reads"
	SlowWrites Kind = "slow-writes"
)

// Fault is what goes wrong in a run, and where.
type Fault struct {
	Kind Kind
	// At is the request that it befalls; for a view, the watch that is held, from the action At.Nth
	// of the scenario on; nothing for slowness.
	At Point
}

// Point is one request of an operator, such as its second apply of a certain Deployment's status. It
// is the same in every run of a scenario, as far as the operator does the same.
type Point struct {
	// Verb and Target are oracle.Request's: "apply", "deployments.apps/status".
	Verb, Target string
	// Name is the object's, "web-*" if the API server made it from the prefix "web-", or "-" where the URL
	// has none: in lists, watches and creates. In it "<uid>" is any UID, "<namespace>" the run's namespace.
	Name string
	// Nth counts from 1.
	Nth int
}

// String is a point's form in a plan: "apply deployments.apps web 1".
func (p Point) String() string { return fmt.Sprintf("%s %s %s %d", p.Verb, p.Target, p.Name, p.Nth) }

// String is a fault's form in a plan: "crash-after apply deployments.apps web 1".
func (f Fault) String() string {
	if f.At == (Point{}) {
		return string(f.Kind)
	}
	return fmt.Sprintf("%s %s", f.Kind, f.At)
}

// Parse reads a fault as String wrote it.
func Parse(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 || Kind(words[0]).Family() == "" {
		return Fault{}, fmt.Errorf("%q is no fault: want one of %v, then where", text, Kinds())
	}
	fault := Fault{Kind: Kind(words[0])}
	if fault.Kind.Family() == Slowness {
		if len(words) > 1 {
			return Fault{}, fmt.Errorf("fault %q: %s befalls every request, so name none", text, fault.Kind)
		}
		return fault, nil
	}
	if fault.Kind.Family() == Views && (len(words) < 2 || words[1] != "watch") {
		return Fault{}, fmt.Errorf("fault %q: %s befalls a watch: want %q, say", text, fault.Kind, fault.Kind+" watch deployments.apps - 1")
	}
	if len(words) != 5 {
		return Fault{}, fmt.Errorf("fault %q: want the verb, resource, name or -, and the number of the request, such as %q", text, "crash-after apply deployments.apps web 1")
	}
	nth, err := strconv.Atoi(words[4])
	if err != nil || nth < 1 {
		return Fault{}, errors.New("fault " + strconv.Quote(text) + ": the last word is no count from 1 on")
	}
	fault.At = Point{Verb: words[1], Target: words[2], Name: words[3], Nth: nth}
	return fault, nil
}

// status is the answer with which a kind refuses; 0 for those that break the connection.
func (k Kind) status() int {
	switch k {
	case Refuse409, Storm409:
		return http.StatusConflict
	case Refuse429:
		return http.StatusTooManyRequests
	case Refuse500:
		return http.StatusInternalServerError
	case Refuse503, Storm503:
		return http.StatusServiceUnavailable
	case Timeout:
		return http.StatusGatewayTimeout
	}
	return 0
}

// lasts is for how long a kind befalls further requests after the first.
func (k Kind) lasts() time.Duration {
	if slices.Contains([]Kind{Storm409, Storm503, StormReset}, k) {
		return stormLasts
	}
	return 0
}
