package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// learner runs each scenario several times without faults, and summarizes these runs in a reference.
type learner struct {
	options *Options
	printf  func(format string, args ...any)
	player  *player
	judge   *judge

	mu         sync.Mutex
	references map[string]*reference
	varying    sets.Set[string] // fields that have already been reported to vary between runs

	observed sync.Map  // Observation by scenario name, until a reference is built from it
	unstored sync.Once // guards the message about webhook configurations
}

// learn creates a reference for each scenario that has none. If names are given, it skips all other scenarios.
func (l *learner) learn(ctx context.Context, names ...string) error {
	failures := make([]error, len(l.options.Scenarios))
	var learning sync.WaitGroup
	for i, s := range l.options.Scenarios {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			learning.Go(func() { _, failures[i] = l.learnScenario(ctx, s) })
		}
	}
	learning.Wait()
	return cmp.Or(failures...) // the first error is enough, because all scenarios usually fail for the same reason
}

func (l *learner) reference(name string) *reference {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.references[name]
}

func (l *learner) scenario(name string) scenario.Scenario {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.options.Scenarios[slices.IndexFunc(l.options.Scenarios, func(s scenario.Scenario) bool { return s.Name == name })]
}

// learnScenario returns the reference of a scenario. The first call records it.
func (l *learner) learnScenario(ctx context.Context, s scenario.Scenario) (*reference, error) {
	if ref := l.reference(s.Name); ref != nil {
		return ref, nil
	}
	l.player.slots <- struct{}{}
	defer func() { <-l.player.slots }()
	ref, err := l.buildReference(ctx, s)
	if errors.Is(err, errNeedsExclusive) {
		ref, err = l.buildReference(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.references[s.Name] = ref
	l.share(&oracle.Nondeterminism{})
	l.reportVarying(s.Name, ref.varying)
	return ref, nil
}

// playFirst runs a scenario for the first time. The returned reference does not contain any states yet.
func (l *learner) playFirst(ctx context.Context, s scenario.Scenario) (*reference, *recording, error) {
	ref := &reference{exclusive: l.player.environments.needsExclusive(s)}
	run, err := l.play(ctx, s, ref)
	if errors.Is(err, errNeedsExclusive) {
		return l.playFirst(ctx, s)
	}
	return ref, run, err
}

// buildReference runs the scenario without faults until quietRuns consecutive runs reveal no new nondeterminism. It
// returns errNeedsExclusive if the scenario cannot share its control plane with other runs.
func (l *learner) buildReference(ctx context.Context, s scenario.Scenario) (_ *reference, err error) {
	var ref *reference
	var first *recording
	if known, is := l.observed.LoadAndDelete(s.Name); is {
		ref, first = known.(Observation).ref, known.(Observation).run
	} else if ref, first, err = l.playFirst(ctx, s); err != nil {
		return nil, err
	}
	ref.slowest = max(ref.slowest, first.timing.slowest()) // the next runs execute concurrently, so they are slower
	var states []*verdict.Expected
	for _, state := range first.states() {
		states = append(states, &verdict.Expected{State: state})
	}
	runs := []*recording{first}
	for quiet := 0; quiet < quietRuns && len(runs) <= learningRuns; {
		others, err := l.repeat(ctx, s, ref, quietRuns-quiet)
		if err != nil {
			return nil, err
		}
		for _, other := range others {
			runs = append(runs, other)
			var news []string
			for i, state := range other.states() {
				news = append(news, states[i].Learn(states[i].State, state)...)
			}
			ref.varying = append(ref.varying, news...)
			if quiet++; len(news) > 0 {
				quiet = 0
			}
		}
	}
	if l.needsExclusive(ref, runs...) {
		return nil, errNeedsExclusive
	}
	ref.states = states
	ref.summarize(runs, s.Covered, l.player.kinds, l.options.Public)
	if ref.polls.Load() {
		l.printf("%s: the operator polls, so only its writes count as activity", s.Name)
	}
	if ref.loop != nil {
		l.printf("%s: ignoring hot loops, because %s without any fault", s.Name, ref.loop)
	}
	return ref, nil
}

// repeat runs a scenario several times, in parallel if there are free slots.
func (l *learner) repeat(ctx context.Context, s scenario.Scenario, ref *reference, times int) ([]*recording, error) {
	runs, failures := make([]*recording, times), make([]error, times)
	var running sync.WaitGroup
	for i := range times {
		play := func() { runs[i], failures[i] = l.play(ctx, s, ref) }
		select {
		case l.player.slots <- struct{}{}:
			running.Go(func() {
				defer func() { <-l.player.slots }()
				play()
			})
		default:
			play() // uses the slot of the caller
		}
	}
	running.Wait()
	return runs, errors.Join(failures...)
}

// play runs a scenario without a fault. If the operator never becomes idle, play marks the operator as polling and runs
// the scenario again.
func (l *learner) play(ctx context.Context, s scenario.Scenario, ref *reference) (*recording, error) {
	polls := ref.polls.Load()
	r, err := l.player.play(ctx, attempt{scenario: s, against: ref, conditions: usual})
	if err != nil {
		return nil, err
	}
	end := r.outcome
	if l.needsExclusive(ref, r) {
		return nil, errNeedsExclusive
	}
	hide := redact.New(end.history, l.options.Public)
	l.judge.withoutFault.addPanics(s.Name, oracle.Panics(r.log.text()), hide)
	if errors.Is(errors.Join(end.steps, end.unstable), record.ErrNotIdle) && !polls {
		ref.polls.Store(true)
		return l.play(ctx, s, ref)
	}
	l.judge.withoutFault.addStuck(s.Name, r, hide)
	switch {
	case end.steps != nil:
		return nil, fmt.Errorf("%s fails without any fault: %w\n%s", s.Name, end.steps, r.hints())
	case end.unstable != nil:
		return nil, fmt.Errorf("%s never converges without any fault: %w\n%s", s.Name, end.unstable, r.hints())
	}
	if err := l.judge.invariants(Plan{}, end.history); err != nil {
		return nil, fmt.Errorf("%s fails without any fault: %w", s.Name, err)
	}
	l.reportUnstored(r)
	return r, nil
}

func (l *learner) needsExclusive(ref *reference, runs ...*recording) bool {
	because := ""
	for _, r := range runs {
		writes := r.injector.Journal.Writes()
		for _, s := range r.companions {
			writes = append(writes, s.injector.Journal.Writes()...)
		}
		if written := l.player.kinds.writtenClusterWide(writes); written != "" {
			because = "the operator writes to " + written + ", which is cluster-scoped"
		}
	}
	if because == "" && needNodePort(runs) {
		because = "a Service needs a fixed node port"
	}
	return because != "" && !ref.exclusive && l.player.environments.requireExclusive(because)
}

// reportUnstored reports the first webhook configuration that the operator creates, because fault.Serve stores none.
func (l *learner) reportUnstored(r *recording) {
	for _, request := range r.injector.Requests.Requests() {
		created := request.IsWrite() && request.Status == http.StatusCreated // also for a server-side apply
		stored := func(write fault.Write) bool { return write.Target == request.Target() }
		if created && fault.IsWebhookConfiguration(request.Target()) && !slices.ContainsFunc(r.injector.Journal.Writes(), stored) {
			l.unstored.Do(func() {
				l.printf("the operator creates %s: they are not stored, and their webhooks are not called", request.Target())
			})
		}
	}
}

// learnVarying records which fields vary, so that they are no longer compared. It returns true if it finds a new one.
func (l *learner) learnVarying(deviations []*verdict.Deviation) bool {
	known, news := verdict.LearnFrom(deviations)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.share(known)
	l.reportVarying("confirm", news)
	return len(news) > 0
}

// reportVarying prints the items in varying that it has not printed before. The caller must hold the lock.
func (l *learner) reportVarying(when string, varying []string) {
	news := sets.List(sets.New(varying...).Difference(l.varying))
	l.varying.Insert(news...)
	if len(news) > 0 {
		l.printf("%s: not compared, because it varies between fault-free runs: %s", when, strings.Join(news, ", "))
	}
}

// share adds the nondeterminism of all references to known, and copies known to each. The caller must hold the lock.
func (l *learner) share(known *oracle.Nondeterminism) {
	var states []*verdict.Expected
	for _, ref := range l.references {
		states = append(states, ref.states...)
	}
	verdict.Share(states, known)
}
