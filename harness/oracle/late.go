package oracle

import "time"

// TimedStep is a successful step of a run.
type TimedStep struct {
	Name string
	// Took excludes the time during which a fault paused a watch or delayed a write, or the run kept waiting after it
	// had converged.
	Took time.Duration
	// AfterFault is true if a fault had been injected when the step ended.
	AfterFault bool
}

// Late returns the first step that took longer than the limit, or nil. If a fault was triggered, Late ignores the steps
// before it, because the fault did not slow them down.
func Late(steps []TimedStep, limit time.Duration, triggered bool) *TimedStep {
	for _, step := range steps {
		if step.Took > limit && step.AfterFault == triggered {
			return &step
		}
	}
	return nil
}
