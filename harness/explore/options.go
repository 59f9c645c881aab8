package explore

import (
	"context"
	"io"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
)

// Operator runs one instance of the operator under test until ctx is canceled, and writes its logs to log. The
// namespace is the operator's own: either Environment.Home or the namespace of the run. Returning before ctx is
// canceled counts as a failure, even if the error is nil. The only exception is pod.ErrExited, if the operator has sent
// a list or watch request before.
type Operator func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error

// Environment is a control plane and the operator that runs on it.
type Environment struct {
	ControlPlane *controlplane.ControlPlane
	Identity     *rest.Config
	Operator     Operator
	// Companions lists processes that run alongside the operator. No faults are injected into their requests.
	Companions []Companion
	// Prepare sets up the operator's namespace before a run starts. Optional.
	Prepare func(ctx context.Context, namespace string) error
	// Home is the operator's namespace in runs on an exclusive control plane. Set it for operators that run in a
	// separate namespace in a real cluster, or that ignore objects in their own namespace. On the shared control plane,
	// or if Home is empty, the operator runs in the namespace of the run.
	Home string
}

// Companion is a process that runs alongside the operator, such as a separate webhook server. It is started and stopped
// with each run and restarted if it exits. Faults and oracles ignore its requests.
type Companion struct {
	Name     string // used in errors, for example the name of its Deployment
	Identity *rest.Config
	Operator Operator
	// ServesWebhooks is true if the API server calls webhooks in this process. Such a process might not list or watch
	// anything, so a run does not wait for it. A run waits until all other companions have synced and are idle.
	ServesWebhooks bool
}

// Options configures an exploration.
type Options struct {
	// Environment is shared by all runs that do not need an exclusive one. See NewEnvironment.
	Environment Environment
	Scenarios   []scenario.Scenario
	// Invariants checks every object version that a watch could deliver during a run. The fault category is passed
	// because some invariants do not hold while watches are stale. Optional.
	Invariants func(fault.Category, []record.ObjectVersion) error
	// NewEnvironment starts an exclusive control plane, which is used by one run at a time. When a scenario needs
	// cluster-scoped objects or a fixed node port, this scenario and all scenarios that start later use exclusive
	// control planes. The caller must stop the control planes. If NewEnvironment is nil, scenarios with cluster-scoped
	// kinds are rejected. Any cluster-scoped objects that the operator writes are shared by all runs and not compared.
	NewEnvironment func(context.Context) (Environment, error)
	// Parallel is the maximum number of concurrent runs. It defaults to 6 per CPU. If SoFar is set and Parallel is
	// greater than 1, up to Parallel/3 additional runs (at least one) confirm failures at the same time.
	Parallel int
	// StepTimeout is the expected duration of a step, including restarts and delays. It defaults to 20 seconds. For slow
	// scenarios, it is increased to three times the duration of the slowest step in the fault-free runs.
	StepTimeout time.Duration
	// LeaveOut skips scenarios that fail even if no fault is injected, and prints the reason to Progress. By default,
	// Explore returns an error for such a scenario. It always returns an error if all scenarios fail.
	LeaveOut bool
	// Public contains words that are not redacted even if they are values in a Secret. redact.PublicWords returns those in
	// the operator's manifests.
	Public sets.Set[string]
	// Seed initializes the random selection of requests, actions and pairs.
	Seed uint64
	// Shard selects the subset of plans that Explore runs. It defaults to all plans.
	Shard results.Shard
	// SoFar is called with the current results whenever failures have been confirmed during the exploration. If it is
	// nil, failures are confirmed only when Confirm is called.
	SoFar func([]Result)
	// Progress receives progress messages, including the plans that failed. Optional.
	Progress io.Writer
}

// Pod returns an Operator that runs an external program, written in any language, as it would run in its Pod. The
// environment variables and the ServiceAccount files point the program to a proxy, which injects the faults. A crash
// kills the program and its children with SIGKILL.
func Pod(container func(namespace string) pod.Container) Operator {
	return func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		serve := func(api net.Listener) (func(), error) { return fault.Serve(api, config) }
		return pod.Run(ctx, container(namespace), serve, log)
	}
}
