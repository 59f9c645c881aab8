package explore_test

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

	"github.com/operator-assay/assay/test/harness/record"
)

const (
	// walkCount is how many there are, each of a seed of its own, and maxParallelWalks how many at a time: they
	// mostly wait.
	walkCount        = 24
	maxParallelWalks = 6
	// averageSteps is how many actions a walk has on average.
	averageSteps = "30"
	// shrinkTime is how long a walk that failed is made shorter, at the most.
	shrinkTime = "90s"
	// shrinkStallTimeout is the patience with a walk that is like one that failed: it takes longer only if the
	// operator waits longer between two tries.
	shrinkStallTimeout = 3 * time.Second
)

// TestWalks acts on several resources at once, in an order that nobody has thought of, and waits for
// nothing in between. Its seeds are those from WALK_SEED on, which is 1, or "random" for those that were
// never tried. What fails is told as the shortest story that does.
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
	for seed := first; seed < first+walkCount; seed++ {
		places <- struct{}{}
		setFlag(t, "rapid.seed", strconv.FormatUint(seed, 10))
		read := make(chan struct{}) // closed when nobody needs the flag any more
		begin := sync.OnceFunc(func() { close(read) })
		walking.Go(func() {
			defer func() { <-places }()
			defer begin()
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) { walkAtRandom(t, history, seed, begin) })
		})
		<-read
	}
}

// newWalkHistory sees the resources of all walks, and what is below them.
func newWalkHistory(t *testing.T) *record.History {
	kinds := []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Service"),
	}
	for _, s := range subjects {
		kinds = append(kinds, s.GroupVersionKind)
	}
	history, err := record.NewHistory(t.Context(), plane.Client, "", kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// walker makes walks for rapid, each once, however often it asks for one on its way to the shortest.
type walker struct {
	history *record.History
	results map[string]error // by plan
	// shortest is the shortest walk that failed, and until is when it is short enough.
	shortest    *walk
	failure     error
	shrinkUntil time.Time
}

// walkAtRandom makes the walk of a seed. When it fails, it makes others like it to find a short one.
func walkAtRandom(t *testing.T, history *record.History, seed uint64, begin func()) {
	w := &walker{history: history, results: map[string]error{}}
	defer func() { // when rapid has said how to make the shortest again
		if w.shortest != nil {
			t.Logf("the shortest of %d walks that were tried:\n✗ %v\n%s\nto walk all the way again: WALK_SEED=%d go test ./test/explore -run '^TestWalks$/^seed-%d$'",
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
			rt.Fatal("a walk has failed") // told alike of all, for rapid takes another word for another bug
		}
	})
}

// run tells what comes of a plan. When it is too late for another walk, nothing does.
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
	if err != nil {
		t.Fatal(err)
	}
	walked := newWalk(t.Context(), namespace, w.history, howLong)
	err = walked.run(p)
	w.results[p.String()] = err
	switch {
	case err == nil, errors.Is(err, errNodePortConflict):
		t.Logf("%d actions, %d lives of the operator, %d requests", len(walked.trace), walked.injector.Starts(), len(walked.injector.Requests.Requests()))
	case w.shortest == nil:
		w.shrinkUntil = time.Now().Add(flag.Lookup("rapid.shrinktime").Value.(flag.Getter).Get().(time.Duration))
		fallthrough
	case len(walked.trace) <= len(w.shortest.trace):
		w.shortest, w.failure = walked, err
	}
	return err
}

// mutedT keeps what rapid says of its draws from hiding the story.
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
			t.Fatalf("WALK_SEED=%s: want a number from 1 on, or random", text)
		}
		return seed
	}
}

// setDefaultFlag sets a flag that the command line does not.
func setDefaultFlag(t *testing.T, name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		setFlag(t, name, value)
	}
}

func setFlag(t *testing.T, name, value string) {
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
