package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Type is what goes wrong. The types are here; in category.go is where each belongs, in dealt.go which requests it applies
// to, in instance.go what becomes of these, and in injector.go what becomes of watches.
type Type string

// Crashes: the operator crashes at a write. LostResponse leaves it running: the write is done, and the operator reads
// a broken connection.
const (
	None         Type = ""
	CrashBefore  Type = "crash-before"
	CrashAfter   Type = "crash-after"
	LostResponse Type = "lost-response"
)

// DelayedWrite is a leader that is deposed in the middle of a write: the next leader works until it is idle, and then
// the write arrives.
const DelayedWrite Type = "delayed-write"

// Replaced is a user who deletes the resource and creates it again, just before a write of the operator: what the operator
// has read of the resource, and puts into its children, is of the one before. Injector.Replace does it.
const Replaced Type = "replaced"

// Errors in response to one request. A burst continues for requests of the same key for burstDuration, or until the
// operator exits and starts again.
const (
	Error409             Type = "error-409"
	Error429             Type = "error-429"
	Error500             Type = "error-500"
	Error503             Type = "error-503"
	Error504             Type = "error-504"
	ConnectionReset      Type = "connection-reset"
	ErrorBurst409        Type = "error-burst-409"
	ErrorBurst503        Type = "error-burst-503"
	ConnectionResetBurst Type = "connection-reset-burst"
)

// SlowError500 is an admission webhook that does not answer: the write fails when the API server has waited for it.
const SlowError500 Type = "slow-error-500"

// Staleness: from an action of the scenario on, the watch of a resource delivers no events until the operator is
// idle. Then Stale delivers them; StaleRestart first restarts the operator and gives it the old list; MissedEvents
// ends the watch with 410, so that the operator lists again and never sees the states in between. With StaleAcross the
// watch delivers nothing until the next action has begun, too, or for acrossBound if the scenario waits for the operator
// before it: what the operator does for the one action, it does with a view from before the other.
const (
	Stale        Type = "stale"
	StaleAcross  Type = "stale-across"
	StaleRestart Type = "stale-restart"
	MissedEvents Type = "missed-events"
)

// Time travel, as Sieve (OSDI'22) calls it: the operator sees and acts on what an action of the scenario has changed,
// restarts when it is idle, and its lists and watches show the state before the action, until it is idle again. With
// TimeTravelFar it has also seen and acted on the action after that one. AllTargets stands for all resources: an API
// server that lags altogether. With TimeTravelDeleting it has seen that an object is being deleted, and acted on a later
// action, and then sees again that the object is being deleted, which may have been created anew.
const (
	TimeTravel         Type = "time-travel"
	TimeTravelFar      Type = "time-travel-far"
	TimeTravelDeleting Type = "time-travel-deleting"
)

// AllTargets is a target of a time travel.
const AllTargets = "*"

// Latency: every read or write takes addedLatency longer.
const (
	SlowReads  Type = "slow-reads"
	SlowWrites Type = "slow-writes"
)

// Fault is what goes wrong in a run, and where.
type Fault struct {
	Type Type
	// At is the request that fails. For staleness and time travel it is the watch that shows an old state, from the
	// scenario's action At.Nth on; for latency it is empty.
	At RequestKey
}

// RequestKey identifies one request of an operator, such as its second apply of a certain Deployment's status. It is
// the same in every run of a scenario, as far as the operator does the same.
type RequestKey struct {
	// Verb and Target are those of record.Request: "apply", "deployments.apps/status".
	Verb, Target string
	// Name is the object's name, "web-*" if the API server generated it from the prefix "web-", or "-" where the URL
	// has none: in lists, watches and creates. It contains "<uid>" for any UID, "<namespace>" for the run's
	// namespace, and "<hash>" for the hash of a Pods' template that ends it.
	Name string
	// Nth counts from 1.
	Nth int
}

// String is the key's form in a plan: "apply deployments.apps web 1".
func (k RequestKey) String() string {
	return fmt.Sprintf("%s %s %s %d", k.Verb, k.Target, k.Name, k.Nth)
}

// String is the fault's form in a plan: "crash-after apply deployments.apps web 1".
func (f Fault) String() string {
	if f.At == (RequestKey{}) {
		return string(f.Type)
	}
	return fmt.Sprintf("%s %s", f.Type, f.At)
}

// Parse reads a fault as String wrote it.
func Parse(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 || Type(words[0]).Category() == "" {
		return Fault{}, fmt.Errorf("%q is no fault: want one of %v, then a request", text, Types())
	}
	fault := Fault{Type: Type(words[0])}
	if fault.Type.Category() == Latency {
		if len(words) > 1 {
			return Fault{}, fmt.Errorf("fault %q: %s applies to every request, so name none", text, fault.Type)
		}
		return fault, nil
	}
	if fault.Type.OfWatch() && (len(words) < 2 || words[1] != "watch") {
		return Fault{}, fmt.Errorf("fault %q: %s applies to a watch: want one such as %q", text, fault.Type, fault.Type+" watch deployments.apps - 1")
	}
	if len(words) != 5 {
		return Fault{}, fmt.Errorf("fault %q: want the verb, resource, name or -, and the number of the request, such as %q", text, "crash-after apply deployments.apps web 1")
	}
	nth, err := strconv.Atoi(words[4])
	if err != nil || nth < 1 {
		return Fault{}, errors.New("fault " + strconv.Quote(text) + ": the last word is not a number from 1 on")
	}
	fault.At = RequestKey{Verb: words[1], Target: words[2], Name: words[3], Nth: nth}
	return fault, nil
}

// OfWatch tells whether the fault applies to a watch, from an action of the scenario on.
func (k Type) OfWatch() bool { return k.Category() == Staleness || k.Category() == TimeTravels }

// statuses are the HTTP statuses of the error responses; none for types that break the connection.
var statuses = map[Type]int{
	Error409: http.StatusConflict, ErrorBurst409: http.StatusConflict, Error429: http.StatusTooManyRequests,
	Error500: http.StatusInternalServerError, SlowError500: http.StatusInternalServerError,
	Error503: http.StatusServiceUnavailable, ErrorBurst503: http.StatusServiceUnavailable, Error504: http.StatusGatewayTimeout,
}

// bursts are the types that apply to further requests for burstDuration after the first.
var bursts = []Type{ErrorBurst409, ErrorBurst503, ConnectionResetBurst}
