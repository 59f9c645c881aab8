package explore

import "time"

// Limits of a step.
const (
	// defaultStepTimeout is the default of Options.StepTimeout. A step takes a second or two, a restart about as long,
	// and a back-off of an operator up to ten seconds.
	defaultStepTimeout = 20 * time.Second
	// slowFactor accounts for slow machines. A step is late if it takes slowFactor times as long as the slowest step
	// of the reference. A run without a reference ends if nothing has changed for slowFactor times the duration of
	// its slowest request.
	slowFactor = 3
	// lateFactor is how many times the expected duration a step may take before it fails. A step that exceeds only the
	// expected duration is reported as late.
	lateFactor = 2
	// confirmingFactor replaces lateFactor in confirmation runs. With the default StepTimeout, a step may take two
	// minutes, so that the operator has time to recover by a relist or a back-off. The failure is then reported as
	// late and not as lost.
	confirmingFactor = 6
	// defaultWatchLife is the time between disconnects of all watches in a confirmation run. An API server closes a
	// watch within an hour and some clients after five minutes, which is too long for a run.
	defaultWatchLife = 40 * time.Second
)

// Windows in which nothing may happen.
const (
	// idleWindow is how long the operator must send no requests before a fault proceeds with its next step. A
	// starting manager polls every 100 ms until its caches are synced, and so does each of its controllers.
	idleWindow = 300 * time.Millisecond
	// settleWindow is how long all objects must remain unchanged at the end of a run. It is longer than the usual
	// debounce interval of an operator.
	settleWindow = 400 * time.Millisecond
	// defaultLearningWindow is how long nothing may change at the end of a run for which there is no reference. It is
	// longer than the usual polling interval of an operator.
	defaultLearningWindow = 2500 * time.Millisecond
	// shortPause is the longest pause that is ignored, because a slow machine causes such pauses as well.
	shortPause = 2 * settleWindow
	// resetWindow is how long nothing may change after the cleanup of a control plane. A controller may be about to
	// recreate an object.
	resetWindow = 100 * time.Millisecond
)

// Limits of other waits.
const (
	// idleTimeout is how long a fault waits for an idle operator before it proceeds with its next step, for example
	// ends a stale view. If the operator is still repeating a request by then, BoundedRetries reports it.
	idleTimeout = 5 * time.Second
	// observationTimeout is how long to wait after the last change for a Kubernetes controller to observe a spec. On
	// a busy machine this takes seconds.
	observationTimeout = 10 * time.Second
	// collectionTimeout is how long to wait for the garbage collector to delete an object whose owners are all gone.
	// It usually takes about a second. Some objects are never deleted, for example if the kind of the owner does not
	// exist.
	collectionTimeout = 5 * time.Second
	// resetTimeout limits the cleanup after a run. If it expires, the control plane is discarded. A namespace that
	// still contains objects with finalizers takes a few seconds.
	resetTimeout = 30 * time.Second
	// restartDelay is the delay before the first restart of a companion process. The delay increases by restartDelay
	// with each restart, so that maxStarts attempts take nine seconds, in which a dependency can become available.
	restartDelay = 200 * time.Millisecond
)

// Numbers of runs, processes and control planes.
const (
	// maxStarts is how often a process that exits is started before the run is aborted.
	maxStarts = 10
	// quietRuns is how many consecutive runs must show no new nondeterminism before a scenario is learned. A field with
	// two equally likely values is missed in one of four scenarios by two runs.
	quietRuns = 2
	// learningRuns is the maximum number of runs in addition to the first. A scenario that shows something new in
	// every run would otherwise never be learned.
	learningRuns = 8
	// confirmations is the number of times that a failed plan is run again, both with and without its fault. A failure
	// counts if it occurs in two of three runs, including the first one.
	confirmations = 2
	// runsPerCPU determines the default of Options.Parallel. Runs mostly wait.
	runsPerCPU = 6
	// environmentsPerCPU and maxEnvironments limit the number of control planes. A control plane uses about 500 MB of
	// memory, and a full CPU for a few seconds at startup.
	environmentsPerCPU = 2
	maxEnvironments    = 16
)
