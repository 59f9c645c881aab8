package faults_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/operator-assay/assay/harness/record"
)

const (
	// maxParallelWalks is the number of walks that run in parallel. They spend most of their time waiting.
	maxParallelWalks = 6
	averageSteps     = "30"
)

// TestWalks performs random actions on several resources without waiting in between. The first seed is WALK_SEED, which
// defaults to 1. The value "random" selects a new seed. If a walk fails, the test prints the shortest failing walk.
func TestWalks(t *testing.T) {
	first := firstSeed(t)
	t.Logf("WALK_SEED=%d", first)
	setDefaultFlag(t, "rapid.steps", averageSteps)
	setDefaultFlag(t, "rapid.shrinktime", shrinkTime)
	setFlag(t, "rapid.checks", "1")
	history := newWalkHistory(t)
	places := make(chan struct{}, maxParallelWalks)
	var walking sync.WaitGroup
	defer walking.Wait()
	walks := uint64(gateWalks)
	if playsAll() {
		walks = allWalks
	}
	for seed := first; seed < first+walks; seed++ {
		places <- struct{}{}
		setFlag(t, "rapid.seed", strconv.FormatUint(seed, 10))
		read := make(chan struct{}) // closed when the walk no longer needs the flag
		begin := sync.OnceFunc(func() { close(read) })
		walking.Go(func() {
			defer func() { <-places }()
			defer begin()
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) { walkAtRandom(t, history, seed, begin) })
		})
		<-read
	}
}

func walkKinds() []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Service"),
	}
	for _, s := range subjects {
		kinds = append(kinds, s.GroupVersionKind)
	}
	return kinds
}

func newWalkHistory(t *testing.T) *record.History { return newHistoryIn(t, "") }

// newHistoryIn watches the walks' resources and their descendants in one namespace, or in all if namespace is empty.
func newHistoryIn(t *testing.T, namespace string) *record.History {
	t.Helper()
	history, err := record.NewHistory(t.Context(), plane.Client, namespace, walkKinds()...)
	noError(t, err)
	return history
}

// walker runs walks for rapid. It runs each plan only once, even if rapid repeats it while shrinking.
type walker struct {
	history *record.History
	results map[string]error // by plan
	// shortest is the shortest failed walk. Shrinking stops at shrinkUntil.
	shortest    *walk
	failure     error
	shrinkUntil time.Time
}

// walkAtRandom runs the walk generated from a seed. If it fails, walkAtRandom searches for a shorter failing walk.
func walkAtRandom(t *testing.T, history *record.History, seed uint64, begin func()) {
	w := &walker{history: history, results: map[string]error{}}
	defer func() { // print the shortest walk after the output of rapid
		if w.shortest != nil {
			t.Logf("the shortest of %d walks:\n✗ %v\n%s\nrerun: WALK_SEED=%d go test ./test/faults -run '^TestWalks$/^seed-%d$'",
				len(w.results), w.failure, w.shortest, seed, seed)
		}
	}()
	rapid.Check(mutedT{t}, func(rt *rapid.T) {
		begin()
		p := newPlan()
		rt.Repeat(p.actionsByName())
		switch err := w.run(t, p); {
		case errors.Is(err, errNodePortConflict):
			rt.Skip(err)
		case err != nil:
			rt.Fatal("a walk has failed") // use the same text for all failures, because rapid treats different texts as different bugs
		}
	})
}

// run returns the result of a plan. It does not run new walks after shrinkUntil.
func (w *walker) run(t *testing.T, p *plan) error {
	err, known := w.results[p.String()]
	if known || w.shortest != nil && time.Now().After(w.shrinkUntil) {
		return err
	}
	howLong := stepTimeout
	if w.shortest != nil {
		howLong = shrinkStallTimeout
	}
	namespace, err := plane.CreateNamespace(t.Context(), "walk")
	noError(t, err)
	walked := newWalk(t.Context(), namespace, w.history, howLong)
	err = walked.run(p)
	w.results[p.String()] = err
	switch {
	case err == nil, errors.Is(err, errNodePortConflict):
		t.Logf("%d actions, %d instances of the operator, %d requests", len(walked.trace), walked.injector.Starts(), len(walked.injector.Requests.Requests()))
	case w.shortest == nil:
		w.shrinkUntil = time.Now().Add(flag.Lookup("rapid.shrinktime").Value.(flag.Getter).Get().(time.Duration))
		fallthrough
	case len(walked.trace) <= len(w.shortest.trace):
		w.shortest, w.failure = walked, err
	}
	return err
}

// mutedT discards rapid's log of its draws.
type mutedT struct{ *testing.T }

func (mutedT) Log(...any)          {}
func (mutedT) Logf(string, ...any) {}

func firstSeed(t *testing.T) uint64 {
	switch text := os.Getenv("WALK_SEED"); text {
	case "":
		return 1
	case "random":
		return rand.Uint64N(1 << 32)
	default:
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seed == 0 {
			t.Fatalf("invalid WALK_SEED=%s: use a positive integer or random", text)
		}
		return seed
	}
}

// setDefaultFlag sets a flag unless it is set on the command line.
func setDefaultFlag(t *testing.T, name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		setFlag(t, name, value)
	}
}

func setFlag(t *testing.T, name, value string) {
	noError(t, flag.Set(name, value))
}
