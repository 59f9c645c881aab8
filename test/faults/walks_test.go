package faults

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

	"github.com/operator-assay/assay/test/harness/record"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

const (
	// walks is how many there are, each of a seed of its own, and sideBySide how many at a time: they
	// mostly wait.
	walks      = 24
	sideBySide = 6
	// steps is how many actions a walk has on average.
	steps = "30"
	// shrinkTime is how long a walk that failed is made shorter, at the most.
	shrinkTime = "90s"
	// inHurry is the patience with a walk that is like one that failed: it takes longer only if the
	// operator waits longer between two tries.
	inHurry = 3 * time.Second
)

// TestWalks acts on several resources at once, in an order that nobody has thought of, and waits for
// nothing in between. Its seeds are those from WALK_SEED on, which is 1, or "random" for those that were
// never tried. What fails is told as the shortest story that does.
func TestWalks(t *testing.T) {
	first := firstSeed(t)
	t.Logf("WALK_SEED=%d", first)
	byDefault(t, "rapid.steps", steps)
	byDefault(t, "rapid.shrinktime", shrinkTime)
	setFlag(t, "rapid.checks", "1")
	witness := newWalkWitness(t)
	places := make(chan struct{}, sideBySide)
	var walking sync.WaitGroup
	defer walking.Wait()
	for seed := first; seed < first+walks; seed++ {
		places <- struct{}{}
		setFlag(t, "rapid.seed", strconv.FormatUint(seed, 10))
		read := make(chan struct{}) // closed when nobody needs the flag any more
		begin := sync.OnceFunc(func() { close(read) })
		walking.Go(func() {
			defer func() { <-places }()
			defer begin()
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) { walkAtRandom(t, witness, seed, begin) })
		})
		<-read
	}
}

// newWalkWitness sees the resources of all walks, and what is below them.
func newWalkWitness(t *testing.T) *record.History {
	kinds := []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Service"),
	}
	for _, s := range subjects {
		kinds = append(kinds, s.GroupVersionKind)
	}
	witness, err := record.NewHistory(t.Context(), plane.Client, "", kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return witness
}

// walker makes walks for rapid, each once, however often it asks for one on its way to the shortest.
type walker struct {
	witness *record.History
	known   map[string]error // by plan
	// shortest is the shortest walk that failed, and until is when it is short enough.
	shortest *walk
	failure  error
	until    time.Time
}

// walkAtRandom makes the walk of a seed. When it fails, it makes others like it to find a short one.
func walkAtRandom(t *testing.T, witness *record.History, seed uint64, begin func()) {
	w := &walker{witness: witness, known: map[string]error{}}
	defer func() { // when rapid has said how to make the shortest again
		if w.shortest != nil {
			t.Logf("the shortest of %d walks that were tried:\n✗ %v\n%s\nto walk all the way again: WALK_SEED=%d go test ./test/faults -run '^TestWalks$/^seed-%d$'",
				len(w.known), w.failure, w.shortest, seed, seed)
		}
	}()
	rapid.Check(quiet{t}, func(rt *rapid.T) {
		begin()
		p := newPlan()
		rt.Repeat(p.draws())
		switch err := w.try(t, p); {
		case errors.Is(err, errPortTaken):
			rt.Skip(err)
		case err != nil:
			rt.Fatal("a walk has failed") // told alike of all, for rapid takes another word for another bug
		}
	})
}

// try tells what comes of a plan. When it is too late for another walk, nothing does.
func (w *walker) try(t *testing.T, p *plan) error {
	err, known := w.known[p.String()]
	if known || w.shortest != nil && time.Now().After(w.until) {
		return err
	}
	howLong := patience
	if w.shortest != nil {
		howLong = inHurry
	}
	namespace, err := plane.CreateNamespace(t.Context(), "walk")
	if err != nil {
		t.Fatal(err)
	}
	walked := newWalk(t.Context(), namespace, w.witness, howLong)
	err = walked.take(p)
	w.known[p.String()] = err
	switch {
	case err == nil, errors.Is(err, errPortTaken):
		t.Logf("%d actions, %d lives of the operator, %d requests", len(walked.story), walked.wire.Starts(), len(walked.wire.Requests.Requests()))
	case w.shortest == nil:
		w.until = time.Now().Add(flag.Lookup("rapid.shrinktime").Value.(flag.Getter).Get().(time.Duration))
		fallthrough
	case len(walked.story) <= len(w.shortest.story):
		w.shortest, w.failure = walked, err
	}
	return err
}

// quiet keeps what rapid says of its draws from hiding the story.
type quiet struct{ *testing.T }

func (quiet) Log(...any)          {}
func (quiet) Logf(string, ...any) {}

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

// byDefault sets a flag that the command line does not.
func byDefault(t *testing.T, name, value string) {
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
