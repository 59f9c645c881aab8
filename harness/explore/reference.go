package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// reference describes a scenario without faults.
type reference struct {
	final       *expected     // nil while the scenario is being learned
	checkpoints []*expected   // states at the steps that wait for convergence
	random      []string      // describes what varies between runs
	writes      []fault.Write // writes that all runs have made
	targets     []fault.Write // the writes at which faults are planned
	reads       []fault.RequestKey
	sent        map[fault.RequestKey]int // the minimum number of requests over all runs; Nth is zero in the keys
	watched     []watchedResource
	actions     int // number of actions in the scenario
	// directlyAfter maps a write to the previous write if no object changed between the two in any run.
	directlyAfter map[fault.RequestKey]fault.RequestKey
	counts        map[verdict.Change]int
	slowest       time.Duration // duration of the slowest step
	pause         time.Duration // the longest pause after which the operator continued; 0 if all pauses were short
	polls         atomic.Bool
	loop          error // a hot loop that occurred without a fault, or nil
	exclusive     bool  // true if the runs had control planes of their own
	// run is the timeline of the first run. secrets redacts the Secret values of all runs.
	run     *results.Run
	secrets redactor
}

// learnScenario builds a reference. It repeats the scenario without a fault until its runs show nothing new.
func (e *Explorer) learnScenario(ctx context.Context, s scenario.Scenario) (*reference, error) {
	ref, first := e.takeObserved(s.Name)
	if first == nil {
		var err error
		if first, err = e.runWithoutFault(ctx, s, ref); err != nil {
			return nil, err
		}
	}
	final := &expected{state: first.end}
	var checkpoints []*expected
	for _, state := range first.checkpoints {
		checkpoints = append(checkpoints, &expected{state: state})
	}
	runs := []*baseline{first}
	for quiet := 0; quiet < quietRuns && len(runs) <= learningRuns; {
		others, err := e.runsWithoutFault(ctx, s, ref, quietRuns-quiet)
		if err != nil {
			return nil, err
		}
		for _, other := range others {
			runs = append(runs, other)
			news := final.Learn(final.state, other.end)
			for i, checkpoint := range checkpoints {
				news = append(news, checkpoint.Learn(checkpoint.state, other.checkpoints[i])...)
			}
			ref.random = append(ref.random, news...)
			if quiet++; len(news) > 0 {
				quiet = 0
			}
		}
	}
	ref.final, ref.checkpoints = final, checkpoints
	e.summarize(ref, runs, s.Covered)
	e.tellLearnt(s.Name, ref)
	return ref, nil
}

// tellLearnt reports the properties of a reference that restrict how other runs are judged.
func (e *Explorer) tellLearnt(name string, ref *reference) {
	if ref.polls.Load() {
		e.tell("%s: the operator polls, so only its writes count as activity", name)
	}
	if ref.loop != nil {
		e.tell("%s: %s without any fault, so hot loops are not judged", name, ref.loop)
	}
}

// summarize fills in the reference from the requests of the runs. The first coveredSteps steps are covered by another
// scenario, so no faults are planned at their requests.
func (e *Explorer) summarize(ref *reference, runs []*baseline, coveredSteps int) {
	first := runs[0]
	ref.exclusive = first.env.exclusive
	ref.actions = len(first.actionStarts)
	ref.writes, ref.counts = first.injector.Writes(), e.counts(ref, first.injector.Writes())
	ref.directlyAfter = first.directlyAfter()
	requests, covered := first.injector.RequestCounts(), maps.Clone(first.sentUpTo(coveredSteps))
	for _, other := range runs {
		ref.pause = max(ref.pause, other.pause)
		ref.slowest = max(ref.slowest, other.slowest)
		ref.loop = cmp.Or(ref.loop, oracle.BoundedRetries(other.injector.Requests.Requests()))
		ref.writes = inBoth(ref.writes, other.injector.Writes())
		also := other.directlyAfter()
		maps.DeleteFunc(ref.directlyAfter, func(write, previous fault.RequestKey) bool { return also[write] != previous })
		verdict.MergeCounts(ref.counts, e.counts(ref, other.injector.Writes()))
		ref.secrets = ref.secrets.and(newRedactor(other.history, e.Options.Public))
		keepFewer(requests, other.injector.RequestCounts())
		keepFewer(covered, other.sentUpTo(coveredSteps))
	}
	isCovered := func(key fault.RequestKey) bool {
		nth := key.Nth
		key.Nth = 0
		return nth <= covered[key]
	}
	ref.sent = requests
	ref.targets = slices.DeleteFunc(slices.Clone(ref.writes), func(write fault.Write) bool { return isCovered(write.RequestKey) })
	ref.run = first.timeline(first.history, ref.secrets)
	for key, count := range requests {
		key.Nth = count
		switch {
		case key.Nth == 0, key.Verb != "watch" && isCovered(key):
		case strings.HasPrefix(key.Target, "/"): // health checks, version and discovery
		case key.Verb == "get" || key.Verb == "list":
			ref.reads = append(ref.reads, key)
		case key.Verb == "watch":
			if actions := e.kinds.actionsWith(key.Target, first.actionStarts, first.history, isAny); len(actions) > 0 {
				deletions := e.kinds.actionsWith(key.Target, first.actionStarts, first.history, isBeingDeleted)
				ref.watched = append(ref.watched, watchedResource{key.Target, actions, deletions})
			}
		}
	}
	slices.SortFunc(ref.reads, byName)
	slices.SortFunc(ref.watched, func(a, b watchedResource) int { return strings.Compare(a.target, b.target) })
	ref.watched = slices.CompactFunc(ref.watched, func(a, b watchedResource) bool { return a.target == b.target })
}

func keepFewer(counts, others map[fault.RequestKey]int) {
	for key, count := range counts {
		counts[key] = min(count, others[key])
	}
}

// inBoth drops the writes that only one run has made, such as intermediate status updates. A fault at such a write
// would often not trigger. The result is sorted, because the order of parallel writes is not deterministic.
func inBoth(one, two []fault.Write) []fault.Write {
	both := slices.DeleteFunc(slices.Clone(one), func(write fault.Write) bool {
		return !slices.ContainsFunc(two, func(other fault.Write) bool { return other.RequestKey == write.RequestKey })
	})
	slices.SortFunc(both, func(a, b fault.Write) int { return byName(a.RequestKey, b.RequestKey) })
	return both
}

func byName(a, b fault.RequestKey) int { return strings.Compare(a.String(), b.String()) }

// baseline is a successful run without a fault.
type baseline struct {
	*run
	outcome
}

// directlyAfter maps a write to the previous write if no object changed in between.
func (b *baseline) directlyAfter() map[fault.RequestKey]fault.RequestKey {
	var changes []uint64
	for _, version := range b.history {
		changes = append(changes, asNumber(version.GetResourceVersion()))
	}
	return directlyAfter(b.injector.Writes(), changes)
}

// sentUpTo returns the requests that were sent in the first steps.
func (r *run) sentUpTo(steps int) map[fault.RequestKey]int {
	if steps == 0 {
		return nil
	}
	return r.sent[steps-1]
}

// runsWithoutFault runs a scenario several times, in parallel if there are free slots.
func (e *Explorer) runsWithoutFault(ctx context.Context, s scenario.Scenario, ref *reference, times int) ([]*baseline, error) {
	runs, failures := make([]*baseline, times), make([]error, times)
	var running sync.WaitGroup
	for i := range times {
		play := func() { runs[i], failures[i] = e.runWithoutFault(ctx, s, ref) }
		select {
		case e.slots <- struct{}{}:
			running.Go(func() {
				defer func() { <-e.slots }()
				play()
			})
		default:
			play() // uses the slot of the caller
		}
	}
	running.Wait()
	return runs, errors.Join(failures...)
}

// runWithoutFault runs a scenario without a fault. If the operator is never idle, it is marked as polling and the
// scenario is run again.
func (e *Explorer) runWithoutFault(ctx context.Context, s scenario.Scenario, ref *reference) (*baseline, error) {
	polls := ref.polls.Load()
	r, end, err := e.run(ctx, attempt{Scenario: s, against: ref, conditions: usual})
	if err == nil {
		e.notePanics(s.Name, oracle.Panics(r.log.text()), newRedactor(end.history, e.Options.Public))
	}
	switch {
	case err != nil:
		return nil, err
	case errors.Is(errors.Join(end.steps, end.unstable), record.ErrNotIdle) && !polls:
		ref.polls.Store(true)
		return e.runWithoutFault(ctx, s, ref)
	}
	e.noteStuck(r, end)
	switch {
	case end.steps != nil:
		return nil, fmt.Errorf("%s fails without any fault: %w\n%s", s.Name, end.steps, r.hints(end))
	case end.unstable != nil:
		return nil, fmt.Errorf("%s never converges without any fault: %w\n%s", s.Name, end.unstable, r.hints(end))
	}
	if err := e.invariants(Plan{}, end); err != nil {
		return nil, fmt.Errorf("%s fails without any fault: %w", s.Name, err)
	}
	e.noteUnstored(r)
	return &baseline{r, end}, nil
}

// noteUnstored prints a message, once, if the operator creates webhook configurations. fault.Serve does not store
// them.
func (e *Explorer) noteUnstored(r *run) {
	for _, request := range r.injector.Requests.Requests() {
		created := request.IsWrite() && request.Status == http.StatusCreated // also for a server-side apply
		stored := func(write fault.Write) bool { return write.Target == request.Target() }
		if created && fault.IsWebhookConfiguration(request.Target()) && !slices.ContainsFunc(r.injector.Writes(), stored) {
			e.unstored.Do(func() {
				e.tell("the operator creates %s by itself: they are not stored, and their webhooks are not called", request.Target())
			})
		}
	}
}

// hints returns details that may explain why a scenario fails without a fault: panics, error responses and logs.
func (r *run) hints(end outcome) string {
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
	return hints.String() + end.log + r.sidecarLog()
}

func (ref *reference) states() []*expected {
	return append(slices.Clone(ref.checkpoints), ref.final)
}

// nameOf returns the name of an object, with a placeholder if the name varies between runs.
func (ref *reference) nameOf(kind schema.GroupKind, name string) string {
	for _, state := range ref.states() {
		name = state.Name(kind, name)
	}
	return name
}
