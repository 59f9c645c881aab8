package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/test/scenarios"
)

const lastRequests = 15

type walk struct {
	ctx           context.Context
	seed          uint64
	random        *rand.Rand
	history       *record.History
	namespace     string
	injector      *fault.Injector
	restart, kill chan struct{}
	fresh         map[string]oracle.Snapshot // the state of each fresh resource
	resources     []*walkResource
	deleted       sets.Set[types.UID] // the resources and children that the walk has deleted
	trace         []string
}

func newWalk(t *testing.T, history *record.History, fresh map[string]oracle.Snapshot, seed uint64) *walk {
	namespace, err := plane.CreateNamespace(t.Context(), "walk")
	noError(t, err)
	return &walk{
		ctx: t.Context(), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), history: history, namespace: namespace,
		// Every resource type that this operator lists or watches is namespaced.
		injector: fault.New(fault.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}),
		restart:  make(chan struct{}), kill: make(chan struct{}), fresh: fresh, resources: walkResources(),
		deleted: sets.New[types.UID](),
	}
}

func (w *walk) run(t *testing.T) {
	operating, stop := context.WithCancel(w.ctx)
	config, instance := w.injector.NewInstance(identity)
	var operators sync.WaitGroup
	operators.Go(func() { w.supervise(operating, config, instance) })
	defer func() {
		stop()
		operators.Wait()
		w.history.Drop(w.namespace)
		deleteResources(w.namespace)
	}()
	switch err := w.act(); {
	case err != nil && scenarios.HasLeakedNodePort(w.history.Objects(w.namespace)):
		t.Skip("a node port has leaked")
	case err != nil:
		t.Errorf("%v\n%s\nrerun: WALK_SEED=%d go test ./test/faults -run '^TestWalks$/^seed-%d$'", err, w, w.seed, w.seed)
	}
	t.Logf("%d actions, %d instances of the operator, %d requests", len(w.trace), w.injector.Starts(), len(w.injector.Requests.Requests()))
}

func (w *walk) act() error {
	for range actionsPerWalk {
		if err := walkActions[w.random.IntN(len(walkActions))](w); err != nil {
			return err
		}
	}
	return w.converge()
}

func (w *walk) String() string {
	var out strings.Builder
	for i, line := range w.trace {
		fmt.Fprintf(&out, "%4d. %s\n", i+1, line)
	}
	requests := w.injector.Requests.Requests()
	fmt.Fprintf(&out, "the operator's last requests, each with the preceding action:\n%s", requests[max(0, len(requests)-lastRequests):])
	return out.String()
}

// supervise restarts the operator until the walk ends, like a kubelet.
func (w *walk) supervise(ctx context.Context, config *rest.Config, instance *fault.Instance) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(ctx)
		ended, own := make(chan struct{}), config // the config may be replaced for the next instance while this one is still stopping
		dying.Go(func() {
			defer close(ended)
			_ = runInstance(living, "", own, io.Discard) // the walk ends the instance, so its error is not relevant
		})
		select {
		case <-instance.Crashed():
		case <-w.kill:
		case <-w.restart:
			stop()
			<-ended // wait for running reconciles
		case <-ended:
		case <-ctx.Done():
		}
		instance.End()
		stop()
		if ctx.Err() != nil {
			return
		}
		config, instance = w.injector.NewInstance(identity)
	}
}

// converge waits until the operator is idle, the walk's resources match freshly created ones, and the invariants hold.
// The invariants may not hold at first, because each kind has a separate watch.
func (w *walk) converge() error {
	w.note("wait until the state converges")
	ctx, cancel := context.WithTimeout(w.ctx, walkTimeout)
	defer cancel()
	for {
		changed, _ := w.history.Changed(w.namespace)
		if err := w.injector.WaitIdle(ctx, w.history, stableFor); err != nil {
			return err
		}
		if w.injector.Release() {
			continue
		}
		err := w.checkInvariants()
		if diff := oracle.Diff(w.freshState(), oracle.NewSnapshot(w.namespace, w.history.Objects(w.namespace))); diff != "" {
			err = fmt.Errorf("the state differs from fresh resources:\n%s", diff)
		}
		if err == nil {
			return nil
		}
		select {
		case <-changed:
		case <-w.injector.Pending():
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", walkTimeout, err)
		}
	}
}

func (w *walk) checkInvariants() error {
	history := w.history.Versions(w.namespace)
	errs := []error{w.checkDeletions(history)}
	status := scenarios.StatusIsAccurate
	if w.hasStaleWatches() {
		status = scenarios.StatusIsConsistent
	}
	for _, r := range w.resources {
		about := slices.DeleteFunc(slices.Clone(history), func(version record.ObjectVersion) bool { return !r.concerns(version) })
		if err := status(about); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(errs...)
}

// checkDeletions returns an error for each deleted child, unless the walk has deleted the child or its owner. The
// operator must never delete a child itself, or cause the garbage collector to do so.
func (w *walk) checkDeletions(history []record.ObjectVersion) error {
	var errs []error
	for _, version := range history {
		_, isChild := childKinds[version.GetKind()]
		if !version.Deleted || !isChild || w.deleted.Has(version.GetUID()) {
			continue
		}
		if owner := metav1.GetControllerOf(version); owner == nil || !w.deleted.Has(owner.UID) {
			errs = append(errs, fmt.Errorf("%s %s was deleted at resourceVersion %s, but the walk deleted neither it nor its owner",
				version.GetKind(), version.GetName(), version.GetResourceVersion()))
		}
	}
	return errors.Join(errs...)
}

// hasStaleWatches reports whether the walk may inject faults into watches. Only half of the walks do, because a stale
// watch may violate some invariants.
func (w *walk) hasStaleWatches() bool { return w.seed%2 == 0 }

func (w *walk) note(says string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%s %s", time.Now().Format(time.TimeOnly), fmt.Sprintf(says, args...)))
	w.injector.Requests.SetStep(fmt.Sprintf(says, args...))
}
