// Package scenario is the form in which a behaviour is written once and tested anywhere: by a Ginkgo spec on envtest,
// by an e2e-framework feature on a cluster, or by the fault explorer, which repeats it hundreds of times. A Scenario
// is a value without state. What a run remembers lives in its Env, so runs do not affect each other.
//
// Actions are named in the active voice (DeleteService), states in the passive (ServiceIsRestored), as in
// Crossplane's end-to-end tests.
package scenario

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scenario is one behaviour, as a list of steps.
type Scenario struct {
	// Name is unique in a catalogue and begins with the subject: "webserver/scale-3-to-4".
	Name string
	// Subject is the kind of the resource that the scenario is about.
	Subject schema.GroupVersionKind
	// Kinds are those whose objects the steps wait for, including Subject.
	Kinds []schema.GroupVersionKind
	// Steps run in order. The first that fails ends the run.
	Steps []Step
	// Covered is how many of the first steps are also those of an earlier scenario in the catalogue, up to one that
	// waits for convergence. The explorer tries what can go wrong in them only there.
	Covered int
}

// Step is an action, or a state that must be reached within the Env's StepTimeout.
type Step struct {
	// Name says what is done or must hold: "ScaleTo(4)", "PodsAreReady(4)".
	Name string
	// IsAction tells an action from a state.
	IsAction bool
	// Run executes the step. Its error says what was seen last.
	Run func(ctx context.Context, env *Env) error
}

// InsertAroundLastAction returns the scenario with steps inserted before and after its last action, where the
// reaction begins: to kill the operator there, for example.
func (s Scenario) InsertAroundLastAction(before, after []Step) Scenario {
	last := 0
	for i := range s.Steps {
		if s.Steps[i].IsAction {
			last = i
		}
	}
	s.Steps = slices.Concat(s.Steps[:last], before, s.Steps[last:last+1], after, s.Steps[last+1:])
	return s
}

// StepResult is the result of one step.
type StepResult struct {
	Step string
	// Detail is what the step observed, in few words, such as "3 of 3 ready"; often empty.
	Detail string
	// Duration is how long the step took.
	Duration time.Duration
	// Err is nil if the step succeeded.
	Err error
}

// Run runs the scenario in env and reports each step's result; report may be nil. It returns the error of the failed
// step, with the step's name.
func (s Scenario) Run(ctx context.Context, env *Env, report func(StepResult)) error {
	for _, step := range s.Steps {
		result := s.RunStep(ctx, step, env)
		if report != nil {
			report(result)
		}
		if result.Err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, step.Name, result.Err)
		}
	}
	return nil
}

// RunStep runs one of the scenario's steps, for runners that report steps in their own way. A panic of the step
// becomes its error, because a process that panics tears nothing down.
func (s Scenario) RunStep(ctx context.Context, step Step, env *Env) (result StepResult) {
	env.scenario, env.detail = s, ""
	start := time.Now()
	defer func() {
		if panicked := recover(); panicked != nil {
			result.Err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
		result.Step, result.Detail, result.Duration = step.Name, env.detail, time.Since(start)
	}()
	return StepResult{Err: step.Run(ctx, env)}
}
