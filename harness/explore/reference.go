package explore

import (
	"cmp"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// reference describes the fault-free runs of a scenario.
type reference struct {
	states    []*verdict.Expected // at the steps that wait for convergence and at the end; nil while the reference is being built
	varying   []string            // describes what varies between runs
	points    points
	counts    oracle.Counts
	slowest   time.Duration // duration of the slowest step
	pause     time.Duration // the longest pause before the operator continued; 0 if all pauses were short
	polls     atomic.Bool
	loop      error // a hot loop in a fault-free run, or nil
	exclusive bool  // true if each run uses an exclusive control plane
	// run is the timeline of the first run. secrets redacts the Secret values of all runs.
	run     *results.Run
	secrets redact.Redactor
}

// summarize fills in the reference, except for the expected states and their nondeterminism.
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
	for i, expected := range ref.states {
		var states []oracle.Snapshot
		for _, run := range runs {
			states = append(states, run.states()[i])
		}
		expected.Agreements = expected.Nondeterminism.Agreements(states...)
	}
}

func (ref *reference) final() *verdict.Expected {
	if len(ref.states) == 0 {
		return nil
	}
	return ref.states[len(ref.states)-1]
}

// expectedAfter returns the expected state at the checkpoint that stopped the run, or the final state.
func (ref *reference) expectedAfter(r *recording) *verdict.Expected {
	if r.outcome.stopped {
		return ref.states[len(r.checkpoints)]
	}
	return ref.final()
}

func (ref *reference) countChanges(kinds kinds, writes []fault.Write) oracle.Counts {
	counts := oracle.Counts{}
	for _, write := range writes {
		if write.Created || write.Deleted {
			kind := kinds.kindOf(write.Target)
			name := write.Object
			for _, state := range ref.states {
				name = state.Name(kind.GroupKind(), name)
			}
			counts[oracle.Change{Deleted: !write.Created, Target: write.Target, Object: name}]++
		}
	}
	return counts
}

// compareCounts returns the creations and deletions that occurred more often than in the reference. It allows a delayed
// write to create its object once more, because the object may be deleted before the write arrives, and the garbage
// collector then deletes the new object. It does not allow this for a generated name, because both objects may remain.
func (ref *reference) compareCounts(got oracle.Counts, faults []fault.Trigger) []oracle.Excess {
	var allowed []oracle.Change
	for _, trigger := range faults {
		for _, write := range ref.points.writes {
			if trigger.Type == fault.DelayedWrite && write.RequestKey == trigger.At && !strings.HasSuffix(write.Object, "*") {
				allowed = append(allowed, oracle.Change{Target: write.Target, Object: write.Object})
			}
		}
	}
	return ref.counts.TooMany(got, allowed)
}
