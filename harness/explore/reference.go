package explore

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// reference describes the fault-free runs of a scenario.
type reference struct {
	final       *verdict.Expected   // nil while the reference is being built
	checkpoints []*verdict.Expected // states at the steps that wait for convergence
	varying     []string            // describes what varies between runs
	points      points
	counts      oracle.Counts
	slowest     time.Duration // duration of the slowest step
	pause       time.Duration // the longest pause before the operator continued; 0 if all pauses were short
	polls       atomic.Bool
	loop        error // a hot loop in a fault-free run, or nil
	exclusive   bool  // true if each run uses an exclusive control plane
	// run is the timeline of the first run. secrets redacts the Secret values of all runs.
	run     *results.Run
	secrets redact.Redactor
}

func expectStates(first *recording) (final *verdict.Expected, checkpoints []*verdict.Expected) {
	for _, state := range first.checkpoints {
		checkpoints = append(checkpoints, &verdict.Expected{State: state})
	}
	return &verdict.Expected{State: first.outcome.state}, checkpoints
}

// summarize fills in the reference, except for the expected states.
func (ref *reference) summarize(runs []*recording, coveredSteps int, kinds kinds, public sets.Set[string]) {
	first := runs[0]
	ref.points = newPoints(runs, coveredSteps, kinds)
	ref.counts = ref.countChanges(kinds, first.injector.Journal.Writes())
	for _, run := range runs {
		ref.pause = max(ref.pause, run.timing.pause)
		ref.slowest = max(ref.slowest, run.timing.slowest())
		ref.loop = cmp.Or(ref.loop, oracle.BoundedRetries(run.injector.Requests.Requests()))
		ref.counts.Merge(ref.countChanges(kinds, run.injector.Journal.Writes()))
		ref.secrets = ref.secrets.And(redact.New(run.outcome.history, public))
	}
	ref.run = first.report(ref.secrets)
}

// learnAgreements finds the fields of each state that contain the same generated value in every run.
func (ref *reference) learnAgreements(runs []*recording) {
	final, checkpoints := []oracle.Snapshot{}, make([][]oracle.Snapshot, len(ref.checkpoints))
	for _, run := range runs {
		final = append(final, run.outcome.state)
		for i := range checkpoints {
			checkpoints[i] = append(checkpoints[i], run.checkpoints[i])
		}
	}
	ref.final.Agreements = ref.final.Nondeterminism.Agreements(final...)
	for i, states := range checkpoints {
		ref.checkpoints[i].Agreements = ref.checkpoints[i].Nondeterminism.Agreements(states...)
	}
}

func (ref *reference) states() []*verdict.Expected {
	return append(slices.Clone(ref.checkpoints), ref.final)
}

// expectedAfter returns the state in which the run should have ended. This is the state at the checkpoint that stopped
// the run, or the final state.
func (ref *reference) expectedAfter(r *recording) *verdict.Expected {
	if r.outcome.stopped {
		return ref.checkpoints[len(r.checkpoints)]
	}
	return ref.final
}

// nameOf returns the name of an object, with a placeholder if the name varies between runs.
func (ref *reference) nameOf(kind schema.GroupKind, name string) string {
	for _, state := range ref.states() {
		name = state.Name(kind, name)
	}
	return name
}

func (ref *reference) countChanges(kinds kinds, writes []fault.Write) oracle.Counts {
	counts := oracle.Counts{}
	for _, write := range writes {
		if write.Created || write.Deleted {
			kind, _ := kinds.lookUp(write.Target)
			object := ref.nameOf(kind, write.Object)
			counts[oracle.Change{Deleted: !write.Created, Target: write.Target, Object: object}]++
		}
	}
	return counts
}

// compareCounts returns the objects that were created or deleted more often than in the reference. A delayed write may
// create its object once more, because the object may have been deleted before the write arrives. The garbage collector
// then deletes the new object.
func (ref *reference) compareCounts(got oracle.Counts, faults []fault.Trigger) []oracle.Excess {
	var allowed []oracle.Change
	for _, trigger := range faults {
		if trigger.Type == fault.DelayedWrite {
			allowed = append(allowed, ref.points.creates(trigger.At)...)
		}
	}
	return ref.counts.TooMany(got, allowed)
}
