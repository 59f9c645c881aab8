// Package scenario is the form in which a behaviour is written down once, to be proven anywhere: by
// a Ginkgo spec on envtest, by an e2e-framework feature on a cluster, or by a fault explorer that
// replays it hundreds of times. A Scenario is a value without state. What a run remembers lives in
// its Env, so that runs never meet.
//
// Steps that act are named in the active voice (DeleteService), states that must come about in the
// passive (ServiceIsRestored), as in Crossplane's end-to-end tests.
package scenario

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scenario is one behaviour, told in steps.
type Scenario struct {
	// Name is unique in a catalogue and tells the subject first: "webserver/scale-3-to-4".
	Name string
	// Subject is the kind of the resource that the scenario is about.
	Subject schema.GroupVersionKind
	// Kinds are those whose objects the steps wait for, Subject among them.
	Kinds []schema.GroupVersionKind
	// Steps are run in order; the first that fails ends the run.
	Steps []Step
}

// Step is an action, or a state that must come about within the Env's patience.
type Step struct {
	// Name reads as a part of the story: "ScaleTo(4)", "PodsAreReady(4)".
	Name string
	// IsAction tells an action from a state that must come about.
	IsAction bool
	// Run does it. An error says what was last seen, for nobody looks twice.
	Run func(ctx context.Context, env *Env) error
}

// InsertAroundLastAction is the scenario with steps before its last action and after it, where the reaction
// begins. It is how a disturbance gets into a story: the killing of the operator, say.
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

// StepResult is what became of one step.
type StepResult struct {
	Step string
	// Detailf is what the step has to tell in few words, such as "3 of 3 ready"; often empty.
	Detail string
	// Duration is how long the step lasted.
	Duration time.Duration
	// Err is nil when the step succeeded.
	Err error
}

// Run plays the scenario in world and tells each step's outcome as it comes; tell may be nil. It
// returns the failed step's error, under the step's name.
func (s Scenario) Run(ctx context.Context, env *Env, tell func(StepResult)) error {
	for _, step := range s.Steps {
		result := s.RunStep(ctx, step, env)
		if tell != nil {
			tell(result)
		}
		if result.Err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, step.Name, result.Err)
		}
	}
	return nil
}

// RunStep runs one of the scenario's steps, for runners that have a form of their own for steps. A panic
// of the step is its error, since a process that dies tears nothing down.
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
