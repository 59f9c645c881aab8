package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// Fault consists of a fault type and the point in a run at which the fault is injected.
type Fault struct {
	Type Type
	// At is the request that the fault applies to, or empty if the type applies to many requests. For a fault that
	// affects watches, At identifies the watch, and At.Nth is the number of the action that starts the fault.
	At RequestKey
}

// RequestKey identifies a single operator request, for example the second apply to the status of the Deployment web.
// The key is the same in every run of a scenario if the operator behaves the same way.
type RequestKey struct {
	// Verb and Target have the same meaning as in record.Request, for example "apply" and "deployments.apps/status".
	Verb, Target string
	// Name is the name of the object, or "-" for lists, watches and creates, which have no name in their URL.
	// Placeholders replace the parts that differ between runs: "web-*" for a name that the API server generated,
	// "<uid>" for a UID, "<namespace>" for the namespace of the run, and "<hash>" for a trailing pod-template hash.
	Name string
	Nth  int // counts the requests with the same Verb, Target and Name, starting at 1
}

// String returns the key in the format that plans use, such as "apply deployments.apps web 1".
func (k RequestKey) String() string {
	return fmt.Sprintf("%s %s %s %d", k.Verb, k.Target, k.Name, k.Nth)
}

// Name returns the name of the fault's type, or an empty string if it has none.
func (f Fault) Name() string {
	if f.Type == nil {
		return ""
	}
	return f.Type.Name()
}

// Category returns the category of the fault's type, or an empty string if it has none.
func (f Fault) Category() Category {
	if f.Type == nil {
		return ""
	}
	return f.Type.Category()
}

// OfWatch reports whether the fault affects watches.
func (f Fault) OfWatch() bool {
	_, is := f.Type.(*watchFault)
	return is
}

// String returns the fault in the format that plans use, such as "crash-after apply deployments.apps web 1".
func (f Fault) String() string {
	if f.At == (RequestKey{}) {
		return f.Name()
	}
	return f.Name() + " " + f.At.String()
}

// Parse parses a fault from the format returned by String.
func Parse(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 || registry[words[0]] == nil {
		var names []string
		for _, of := range Types() {
			names = append(names, of.Name())
		}
		return Fault{}, fmt.Errorf("unknown fault %q: use one of %s; most of them need a request, as in \"crash-after apply deployments.apps web 1\" (verb, resource, name, number)", text, strings.Join(names, ", "))
	}
	fault := Fault{Type: registry[words[0]]}
	if of, is := fault.Type.(*requestFault); is && of.appliesTo != nil {
		if len(words) > 1 {
			return Fault{}, fmt.Errorf("fault %q: %s applies to all requests: remove the request", text, words[0])
		}
		return fault, nil
	}
	if fault.OfWatch() && (len(words) < 2 || words[1] != "watch") {
		return Fault{}, fmt.Errorf("fault %q: %s requires a watch, for example %q", text, words[0], words[0]+" watch deployments.apps - 1")
	}
	nth := 0
	if len(words) == 5 {
		nth, _ = strconv.Atoi(words[4]) // 0 on error
	}
	if nth < 1 {
		return Fault{}, fmt.Errorf("fault %q: the request must have a verb, a resource, a name or -, and a positive number, for example %q", text, "crash-after apply deployments.apps web 1")
	}
	fault.At = RequestKey{Verb: words[1], Target: words[2], Name: words[3], Nth: nth}
	return fault, nil
}
