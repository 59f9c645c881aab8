package explore

import "time"

const (
	// defaultStepTimeout allows for a restart, which takes a second or two, and for back-offs of up to ten seconds.
	defaultStepTimeout = 20 * time.Second
	// slowFactor accounts for slow machines. A step is late only if it takes more than slowFactor times as long as the
	// slowest step of the fault-free runs. If an operator in a fault-free run is never idle for defaultLearningWindow, it
	// must instead be idle for slowFactor times the duration of its slowest request.
	slowFactor = 3
	// lateFactor is the ratio of a step's timeout to its expected duration. A step is late if it takes longer than
	// expected but does not time out.
	lateFactor = 2
	// confirmingFactor replaces lateFactor in runs that confirm a failure. It gives the operator two minutes to recover,
	// for example by relisting or by retrying after a back-off.
	confirmingFactor = 6
	// defaultWatchLife is the interval at which all watches are disconnected in a run that confirms a failure. In a real
	// cluster, client-go ends a watch after five to ten minutes, but most runs end before that.
	defaultWatchLife = 40 * time.Second
)

const (
	// idleWindow is how long the operator must be idle before the next step of a fault runs, or before an operator that
	// has just started counts as ready. A starting manager may send no requests for 200 ms: it checks every 100 ms
	// whether its caches are synced, and then each controller does the same.
	idleWindow = 300 * time.Millisecond
	// settleWindow is how long all objects must remain unchanged at the end of a run. It is longer than the usual
	// debounce interval of an operator.
	settleWindow = 400 * time.Millisecond
	// defaultLearningWindow is how long the operator must stay idle at the end of a run that has no reference. It is
	// longer than the usual polling interval of an operator.
	defaultLearningWindow = 2500 * time.Millisecond
	// shortPause is the longest pause that is not recorded. Such a pause may be caused by a slow machine.
	shortPause = 2 * settleWindow
	// resetWindow is how long a control plane must stay unchanged after its cleanup, because a controller may be about
	// to recreate an object.
	resetWindow = 100 * time.Millisecond
)

const (
	// idleTimeout is how long to wait for the operator to become idle before the next step of a fault. The step then
	// runs even if the operator is busy, so that a stale view cannot last until the end of the run.
	idleTimeout = 5 * time.Second
	// observationTimeout is how long to wait for a Kubernetes controller to observe a spec on a busy machine.
	observationTimeout = 10 * time.Second
	// collectionTimeout is how long to wait for the garbage collector. This usually takes about a second. Some objects
	// are never deleted, for example if the kind of the owner does not exist.
	collectionTimeout = 5 * time.Second
	// resetTimeout limits the cleanup after a run. If it expires, the control plane is discarded. Cleaning up a
	// namespace that still contains objects with finalizers takes a few seconds.
	resetTimeout = 30 * time.Second
	// restartDelay is multiplied by the number of starts to get the delay before the next start of a companion. The
	// delays add up to nine seconds, which should be enough for its dependencies to become available.
	restartDelay = 200 * time.Millisecond
)

const (
	// maxStarts limits how often a process is started. If the process exits after the last start, the run is aborted.
	maxStarts = 10
	// quietRuns is how many consecutive runs must reveal no new nondeterminism before a reference is considered complete.
	// If a field has two equally likely values, two runs fail to detect this in one out of four cases.
	quietRuns = 2
	// learningRuns is the maximum number of reference runs after the first one, even if each reveals more nondeterminism.
	learningRuns = 8
	// confirmations is the number of reruns of a failed plan, both with and without its fault. A failure is reproduced
	// if it occurs in at least two of the three runs with the fault, including the first one, and in no run without it.
	confirmations = 2
	// runsPerCPU determines the default of Options.Parallel. It is high because runs spend most of their time waiting.
	runsPerCPU = 6
	// environmentsPerCPU and maxEnvironments limit the number of exclusive control planes, which use about 500 MB each.
	environmentsPerCPU = 2
	maxEnvironments    = 16
)
