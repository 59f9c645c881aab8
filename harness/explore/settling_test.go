package explore

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

func observed(apiVersion, kind string, generation int64, status map[string]any) unstructured.Unstructured {
	object := unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	object.SetNamespace("run")
	object.SetName("web")
	object.SetUID(types.UID(kind))
	object.SetResourceVersion("1")
	object.SetGeneration(generation)
	if status != nil {
		object.Object["status"] = status
	}
	return object
}

func TestUnobservedSpecIsUnderway(t *testing.T) {
	at := func(generation int64) map[string]any { return map[string]any{"observedGeneration": generation} }
	deleting := observed("apps/v1", "Deployment", 2, at(1))
	deleting.SetDeletionTimestamp(new(metav1.Now()))
	for name, test := range map[string]struct {
		object unstructured.Unstructured
		want   bool
	}{
		"Deployment":            {observed("apps/v1", "Deployment", 2, at(1)), true},
		"ReplicaSet":            {observed("apps/v1", "ReplicaSet", 2, at(1)), true},
		"StatefulSet":           {observed("apps/v1", "StatefulSet", 2, at(1)), true},
		"DaemonSet":             {observed("apps/v1", "DaemonSet", 2, at(1)), true},
		"without status":        {observed("apps/v1", "Deployment", 1, nil), true},
		"observed":              {observed("apps/v1", "Deployment", 2, at(2)), false},
		"without generation":    {observed("apps/v1", "ControllerRevision", 0, nil), false},
		"being deleted":         {deleting, false},
		"custom resource":       {observed("example.com/v1", "Deployment", 2, at(1)), false},
		"kind in another group": {observed("policy/v1", "PodDisruptionBudget", 2, at(1)), false},
	} {
		if got := isUnderway([]unstructured.Unstructured{observed("apps/v1", "Deployment", 1, at(1)), test.object}); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if isUnderway(nil) {
		t.Error("got underway without objects")
	}
}

func TestConvergenceWaitsForAppsControllers(t *testing.T) {
	const soon = 3 * time.Second // by then the operator is idle and the objects are stable
	for name, test := range map[string]struct{ observedAfter, atLeast, atMost time.Duration }{
		"observed late":  {soon, soon, observationTimeout},
		"never observed": {0, observationTimeout, 2 * observationTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, _ := newIdleRun(t)
				deliver := func(resourceVersion string, observedGeneration int64) {
					web := observed("apps/v1", "Deployment", 2, map[string]any{"observedGeneration": observedGeneration})
					web.SetResourceVersion(resourceVersion)
					r.env.history.Record(record.ObjectVersion{Unstructured: &web, Time: time.Now()})
				}
				began := time.Now()
				deliver("1", 1)
				if test.observedAfter > 0 {
					time.AfterFunc(test.observedAfter, func() { deliver("2", 2) })
				}
				unstable, difference := r.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
				g.Expect(errors.Join(unstable, difference)).To(Succeed())
				g.Expect(time.Since(began)).To(And(BeNumerically(">=", test.atLeast), BeNumerically("<", test.atMost)))
			})
		})
	}
}

func TestOrphanIsBeingCollected(t *testing.T) {
	version := func(uid string, deleted bool, owners ...string) record.ObjectVersion {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetUID(types.UID(uid))
		var references []metav1.OwnerReference
		for _, owner := range owners {
			references = append(references, metav1.OwnerReference{UID: types.UID(owner)})
		}
		object.SetOwnerReferences(references)
		return record.ObjectVersion{Unstructured: object, Deleted: deleted}
	}
	terminating := version("child", false, "old")
	terminating.SetDeletionTimestamp(new(metav1.Now()))
	owner, gone, other := version("old", false), version("old", true), version("new", false)
	for name, test := range map[string]struct {
		history []record.ObjectVersion
		want    bool
	}{
		"owner exists":                {[]record.ObjectVersion{owner, version("child", false, "old")}, false},
		"owner is deleted":            {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other}, true},
		"child is deleted too":        {[]record.ObjectVersion{owner, version("child", false, "old"), gone, version("child", true, "old")}, false},
		"child is terminating":        {[]record.ObjectVersion{owner, gone, terminating}, false},
		"child has a new owner":       {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other, version("child", false, "new")}, false},
		"another owner exists":        {[]record.ObjectVersion{owner, gone, other, version("child", false, "old", "new")}, false},
		"owner is not in the history": {[]record.ObjectVersion{version("child", false, "cluster-wide")}, false},
	} {
		if got := isBeingCollected(test.history); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestConvergenceWaitsForGarbageCollector creates a child that the garbage collector never deletes although its owner
// is gone. The run waits for collectionTimeout and then converges.
func TestConvergenceWaitsForGarbageCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, _ := newIdleRun(t)
		began := time.Now()
		owner, child := observed("v1", "ConfigMap", 1, nil), observed("v1", "Secret", 1, nil)
		child.SetResourceVersion("2")
		child.SetOwnerReferences([]metav1.OwnerReference{{UID: owner.GetUID()}})
		gone := owner.DeepCopy()
		gone.SetResourceVersion("3")
		for _, version := range []record.ObjectVersion{{Unstructured: &owner}, {Unstructured: &child}, {Unstructured: gone, Deleted: true}} {
			version.Time = began
			r.env.history.Record(version)
		}
		unstable, difference := r.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
		g.Expect(errors.Join(unstable, difference)).To(Succeed())
		g.Expect(time.Since(began)).To(And(BeNumerically(">=", collectionTimeout), BeNumerically("<", 2*collectionTimeout)))
	})
}

func TestLearningWaitsForFinalizers(t *testing.T) {
	const retry = 15 * time.Second
	for name, test := range map[string]struct {
		finalizer       string
		removedAfter    time.Duration
		atLeast, atMost time.Duration
		slowest         time.Duration
	}{
		"removed later":           {"example.com/cleanup", retry, retry, defaultStepTimeout, retry - defaultLearningWindow},
		"never removed":           {"example.com/cleanup", 0, defaultStepTimeout, defaultStepTimeout, 0},
		"finalizer of Kubernetes": {metav1.FinalizerDeleteDependents, 0, 0, retry, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, _ := newIdleRun(t)
				r.recording.timing.timely = defaultStepTimeout
				began := time.Now()
				web := observed("example.com/v1", "Web", 1, nil)
				web.SetFinalizers([]string{test.finalizer})
				web.SetDeletionTimestamp(new(metav1.Now()))
				r.env.history.Record(record.ObjectVersion{Unstructured: &web, Time: began})
				if test.removedAfter > 0 {
					gone := web.DeepCopy()
					gone.SetResourceVersion("2")
					time.AfterFunc(test.removedAfter, func() {
						r.env.history.Record(record.ObjectVersion{Unstructured: gone, Time: time.Now(), Deleted: true})
					})
				}
				unstable, difference := r.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
				g.Expect(errors.Join(unstable, difference)).To(Succeed())
				g.Expect(time.Since(began)).To(And(BeNumerically(">=", test.atLeast), BeNumerically("<=", test.atMost)))
				r.recording.timing.note("Converged", began, r.recording.injector)
				g.Expect(r.recording.timing.slowest()).To(BeNumerically("~", test.slowest, idleWindow), "an unfinished deletion does not count as a slow step")
			})
		})
	}
}
