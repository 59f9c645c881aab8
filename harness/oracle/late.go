package oracle

import "time"

// TimedStep is a successful step of a run.
type TimedStep struct {
	Name string
	// Took is the duration of the step. It excludes delays caused by a fault, and the time that the run waited after
	// convergence.
	Took       time.Duration
	AfterFault bool // true if a fault was injected before the step ended
}

// Late returns the first step that took longer than the limit, or nil. If a fault was triggered, Late ignores the steps
// that ended before the fault, because the fault did not affect them.
func Late(steps []TimedStep, limit time.Duration, triggered bool) *TimedStep {
	for _, step := range steps {
		if step.Took > limit && step.AfterFault == triggered {
			return &step
		}
	}
	return nil
}
