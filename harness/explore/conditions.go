package explore

import "time"

// conditions configures how a run is played, except for its fault.
type conditions struct {
	// lateFactor is the multiple of the expected duration after which a step fails. A step that exceeds only the
	// expected duration is reported as late.
	lateFactor time.Duration
	// watchLife is the time between disconnects of all watches. Zero means never.
	watchLife time.Duration
	// lateLimit is the minimum time before a step fails. If it is zero, only lateFactor applies.
	lateLimit time.Duration
	// lasting keeps the operator running after the run has converged, until the Explorer is closed.
	lasting bool
	// slots is the semaphore in which the run holds a slot. It defaults to the slots of the Explorer.
	slots chan struct{}
	// awaited is a difference to look for after the run has converged to the reference. It may be nil.
	awaited *difference
}

// limit returns the time after which a step fails, given the expected duration.
func (c conditions) limit(timely time.Duration) time.Duration {
	return max(c.lateFactor*timely, c.lateLimit)
}

// usual is used for plans and for reference runs.
var usual = conditions{lateFactor: lateFactor}

// confirming returns the conditions of confirmation runs. Their watches are disconnected periodically. By default, a
// step fails after two minutes, or after one and a half resync periods if that is longer. This gives the operator
// time to recover by a resync or a relist, so that the failure is reported as late and not as lost.
func (e *Explorer) confirming() conditions {
	return conditions{lateFactor: confirmingFactor, lateLimit: e.resync() * 3 / 2, watchLife: e.watchLife}
}

// timely returns the expected duration of a step. It is StepTimeout, or slowFactor times the slowest step of the
// reference if that is longer.
func (e *Explorer) timely(ref *reference) time.Duration {
	return max(e.Options.StepTimeout, slowFactor*ref.slowest)
}
