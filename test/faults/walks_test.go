package faults_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

const actionsPerWalk = 30

// TestWalks performs random actions on several resources, mostly without waiting in between. The resources must then
// match freshly created ones with the same specs. The first seed is WALK_SEED, which defaults to 1. The value "random"
// selects a new seed.
func TestWalks(t *testing.T) {
	first := firstSeed(t)
	t.Logf("WALK_SEED=%d", first)
	history := newHistory(t)
	fresh := recordFreshStates(t, history)
	walks := uint64(gateWalks)
	if playsAll() {
		walks = allWalks
	}
	for seed := first; seed < first+walks; seed++ {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			t.Parallel()
			newWalk(t, history, fresh, seed).run(t)
		})
	}
}

func firstSeed(t *testing.T) uint64 {
	switch text := os.Getenv("WALK_SEED"); text {
	case "":
		return 1
	case "random":
		return rand.Uint64N(1 << 32)
	default:
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("invalid WALK_SEED=%s: use a non-negative integer or random", text)
		}
		return seed
	}
}

var comparedKinds = []schema.GroupVersionKind{
	subjects[0].GroupVersionKind,
	subjects[1].GroupVersionKind,
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Service"),
}

func newHistory(t *testing.T, kinds ...schema.GroupVersionKind) *record.History {
	t.Helper()
	history, err := record.NewHistory(t.Context(), plane.Client, "", append(kinds, comparedKinds...)...)
	noError(t, err)
	return history
}

// recordFreshStates creates every resource that can occur in a walk, each in its own namespace. It returns the final
// state of each namespace, keyed by resource.
func recordFreshStates(t *testing.T, history *record.History) map[string]oracle.Snapshot {
	ctx := t.Context()
	stop := startOperator(t, identity)
	defer stop()
	namespaces := map[string]string{} // by resource
	for _, one := range walkResources() {
		for i := range 2 * (maxPods + 1) {
			r := *one
			r.pods, r.image = int64(i/2), []string{r.Images.From, r.Images.To}[i%2]
			namespace, err := plane.CreateNamespace(ctx, "fresh")
			noError(t, err)
			defer deleteResources(namespace)
			noError(t, plane.Client.Create(ctx, r.object(namespace)))
			namespaces[r.String()] = namespace
		}
	}
	var waiting errgroup.Group
	for _, namespace := range namespaces {
		waiting.Go(func() error {
			if err := waitComplete(ctx, history, namespace, 1); err != nil {
				return err
			}
			return history.WaitStable(ctx, namespace, stableFor)
		})
	}
	noError(t, waiting.Wait())
	states := map[string]oracle.Snapshot{}
	for resource, namespace := range namespaces {
		states[resource] = oracle.NewSnapshot(namespace, history.Objects(namespace))
	}
	return states
}

// deleteResources deletes all resources in a namespace to free their node ports. The garbage collector deletes the
// children.
func deleteResources(namespace string) {
	for _, s := range subjects { // ignore errors, because a leaked node port is not worth a failure
		_ = plane.Client.DeleteAllOf(context.Background(), s.subjectWith(namespace, nil), client.InNamespace(namespace))
	}
}

// freshState combines the states that recordFreshStates recorded for the walk's current resources.
func (w *walk) freshState() oracle.Snapshot {
	state := oracle.Snapshot{}
	for _, r := range w.resources {
		if r.exists {
			maps.Copy(state, w.fresh[r.String()])
		}
	}
	return state
}
