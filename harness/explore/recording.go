package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// logTailLines is the maximum number of log lines and of rejected requests that are shown if a fault-free run fails.
const logTailLines = 20

// recording holds what happened in a run. The learner and the judge use only the recordings of finished runs.
type recording struct {
	namespace    string
	injector     *fault.Injector // the requests of the operator and the injected faults
	companions   []*companion
	timeline     timeline
	log          log
	timing       timing
	checkpoints  []oracle.Snapshot
	sent         []map[fault.RequestKey]int // sent[n] holds the request counts after the first n steps; sent[0] is nil
	actionStarts []int                      // the length of the history before each action
	outcome      outcome
	ended        chan struct{} // closed when the operator and its companions have stopped
}

type outcome struct {
	steps        error // error of the failed step
	stopped      bool  // true if the run ended at a checkpoint that was unstable or differed from the reference
	unstable     error // what kept changing after the last step
	difference   error // how the final state differs from the reference
	awaitedFound bool  // true if the difference in conditions.awaited was observed
	state        oracle.Snapshot
	stuck        []oracle.StuckDeletion // set if all steps have succeeded
	history      []record.ObjectVersion
}

func (r *recording) states() []oracle.Snapshot {
	return append(slices.Clone(r.checkpoints), r.outcome.state)
}

func (r *recording) directlyAfter() map[fault.RequestKey]fault.RequestKey {
	var changes []uint64
	for _, version := range r.outcome.history {
		changes = append(changes, record.Revision(version.GetResourceVersion()))
	}
	return directlyAfter(r.injector.Journal.Writes(), changes)
}

func (r *recording) withoutNamespace(text string) string {
	return strings.ReplaceAll(text, r.namespace, "<namespace>")
}

// hints returns details that may explain why a fault-free run failed: panics, rejected requests and logs.
func (r *recording) hints() string {
	var hints strings.Builder
	for _, p := range oracle.Panics(r.log.text()) {
		fmt.Fprintln(&hints, "panic", p)
	}
	refused := r.injector.Requests.Requests(func(request record.Request) bool {
		return request.Status >= 400 && request.Status != http.StatusNotFound && request.Status != http.StatusConflict
	})
	for _, request := range refused[max(0, len(refused)-logTailLines):] {
		fmt.Fprintln(&hints, "refused:", request)
	}
	hints.WriteString(r.log.tail(logTailLines))
	for _, s := range r.companions {
		if tail := s.log.tail(logTailLines); tail != "" {
			fmt.Fprintf(&hints, "\nlog of %s:\n%s", s.config.Name, tail)
		}
	}
	return hints.String()
}

type timing struct {
	timely time.Duration // how long a step may take before it is late
	steps  []oracle.TimedStep
	pause  time.Duration // the operator's longest pause
	// excluded contains periods in which the run only waited for further changes. A step's duration excludes them.
	excluded []fault.Delay
}

func (t *timing) exclude(since time.Time) {
	t.excluded = append(t.excluded, fault.Delay{From: since, To: time.Now()})
}

// note records the duration of a successful step. It subtracts excluded intervals and delays caused by a fault.
func (t *timing) note(step string, start time.Time, injector *fault.Injector) {
	end := time.Now()
	took := end.Sub(start)
	for _, interval := range slices.Concat(injector.Delays(), t.excluded) {
		took -= interval.Between(start, end)
	}
	t.steps = append(t.steps, oracle.TimedStep{Name: step, Took: took, AfterFault: !injector.TriggeredAt().IsZero()})
}

func (t *timing) slowest() time.Duration {
	var slowest time.Duration
	for _, step := range t.steps {
		slowest = max(slowest, step.Took)
	}
	return slowest
}
