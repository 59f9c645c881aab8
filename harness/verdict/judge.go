package verdict

import (
	"errors"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// AfterLastStep is the step name of requests that are sent after all steps succeeded.
const AfterLastStep = "after the last step"

// Run is a recorded run, compared with the reference.
type Run struct {
	Requests record.Requests
	// Triggered is true if a fault was injected.
	Triggered bool
	// Panics are the panics that do not occur in fault-free runs.
	Panics []oracle.GoPanic
	// FailedStep is the step that failed, and Failure is its error. Failure is nil if all steps succeeded.
	FailedStep string
	Failure    error
	// LateBefore and Late are the first late steps before and after the fault was injected, if any.
	LateBefore, Late *Finding
	// Unstable describes what kept changing at the end, and Difference how the state differs from the reference.
	Unstable, Difference error
	// Changes is the result of TooMany. It is nil if the changes cannot be compared with the reference.
	Changes error
	// Invariant is the error from a violated invariant, if any.
	Invariant error
	// LoopsAnyway is true if a hot loop also occurs in fault-free runs.
	LoopsAnyway bool
}

// Judge returns the findings of all oracles.
func Judge(r Run) []Finding {
	var found []Finding
	if len(r.Panics) > 0 {
		found = append(found, FromPanics(r.Panics))
	}
	if r.Failure != nil {
		found = append(found, Finding{Oracle: Converges, Step: r.FailedStep, Message: r.Failure.Error()})
	}
	late := r.Late
	if !r.Triggered { // a step before the fault may have been late for any reason
		late = r.LateBefore
	}
	if late != nil {
		found = append(found, *late)
	}
	if r.Unstable != nil {
		after := func(request record.Request) bool { return request.Step == AfterLastStep }
		found = append(found, FromRequests(r.Unstable.Error(), r.Requests.Filter(after)))
	}
	for _, err := range []error{r.Difference, r.Changes} {
		if one, is := errors.AsType[Finding](err); is {
			found = append(found, one)
		}
	}
	if r.Invariant != nil {
		found = append(found, FromInvariant(r.Invariant))
	}
	if loop, is := errors.AsType[oracle.HotLoop](oracle.BoundedRetries(r.Requests)); is && !r.LoopsAnyway {
		found = append(found, FromLoop(loop))
	}
	return found
}
