// Package scenario defines scenarios, which describe the behavior of an operator independently of the test framework.
// The same Scenario can be run in a Ginkgo spec with envtest, in an e2e-framework feature on a cluster, or hundreds of
// times by the fault explorer. A Scenario has no state. Each run has its own state in its Env.
//
// As in Crossplane's end-to-end tests, the name of an action is in the active voice (DeleteService), and the name of a
// state is in the passive voice (ServiceIsRestored).
package scenario

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// User is the field manager of the objects that a scenario applies on behalf of the user.
const User = "assay-user"

// Scenario is a list of steps that test one behavior.
type Scenario struct {
	// Name must be unique. It starts with the subject, for example "webserver/scale-3-to-4".
	Name    string
	Subject schema.GroupVersionKind
	// Kinds are the kinds of all objects that the steps wait for, including Subject.
	Kinds []schema.GroupVersionKind
	Steps []Step
	// Covered is the number of leading steps that an earlier scenario also has. It counts only up to the last shared
	// step that waits for convergence. The explorer injects no faults into the reads and writes of these steps, because
	// it does so in the earlier scenario.
	Covered int
}

// Step is an action, or a state that must be reached within the StepTimeout of the Env.
type Step struct {
	// Name describes the action or the state, for example "ScaleTo(4)" or "PodsAreReady(4)".
	Name     string
	IsAction bool
	// Run executes the step. If a state is not reached, the error describes the state that was last observed.
	Run func(ctx context.Context, env *Env) error
}

// StepResult is the result of running a step.
type StepResult struct {
	Step string
	// Detail is a short observation, such as "3 of 3 ready". It may be empty.
	Detail   string
	Duration time.Duration
	Err      error
}

// Run runs the scenario. It calls report with the result of each step unless report is nil. The error names the step.
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

// RunStep runs a single step of the scenario. It converts a panic to an error, because a crash of the test process
// would skip cleaning up the test environment.
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
