package verdict

import (
	"errors"
	"time"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// Run contains the recorded data of a run, and the differences between the run and the reference.
type Run struct {
	Requests  record.Requests
	Triggered bool             // true if a fault was injected
	Panics    []oracle.GoPanic // panics that do not occur in fault-free runs
	// FailedStep is the step that failed, and Failure is its error. Failure is nil if all steps succeeded.
	FailedStep string
	Failure    error
	// Steps are the steps that succeeded. A step is late if it takes longer than the limit in Timely.
	Steps  []oracle.TimedStep
	Timely time.Duration
	// Unstable is not nil if the state kept changing after the last step. Difference is not nil if the final state
	// differs from the reference.
	Unstable, Difference error
	// Excess lists the changes that were made more often than in the reference. It is nil if the changes cannot be
	// compared, for example because a step failed.
	Excess      []oracle.Excess
	Invariant   error // the error from a violated invariant, or nil
	LoopsAnyway bool  // true if a hot loop also occurs in fault-free runs
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
	if late := oracle.Late(r.Steps, r.Timely, r.Triggered); late != nil {
		found = append(found, FromLateStep(*late, r.Timely))
	}
	if r.Unstable != nil {
		found = append(found, FromUnstable(r.Unstable.Error(), oracle.RepeatedAtRest(r.Requests)))
	}
	if one, is := errors.AsType[Finding](r.Difference); is {
		found = append(found, one)
	}
	if len(r.Excess) > 0 {
		found = append(found, FromCounts(r.Excess))
	}
	if r.Invariant != nil {
		found = append(found, FromInvariant(r.Invariant))
	}
	if loop, is := errors.AsType[oracle.HotLoop](oracle.BoundedRetries(r.Requests)); is && !r.LoopsAnyway {
		found = append(found, FromLoop(loop))
	}
	return found
}
