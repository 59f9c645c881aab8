package explore

import (
	"errors"
	"strconv"
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

func TestAnObjectWithoutItsOwnersIsBeingCollected(t *testing.T) {
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
		"the owner exists":         {[]record.ObjectVersion{owner, version("child", false, "old")}, false},
		"the owner has gone":       {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other}, true},
		"the child has gone too":   {[]record.ObjectVersion{owner, version("child", false, "old"), gone, version("child", true, "old")}, false},
		"the child is terminating": {[]record.ObjectVersion{owner, gone, terminating}, false},
		"it has a new owner":       {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other, version("child", false, "new")}, false},
		"another owner is left":    {[]record.ObjectVersion{owner, gone, other, version("child", false, "old", "new")}, false},
		"nobody knows the owner":   {[]record.ObjectVersion{version("child", false, "cluster-wide")}, false},
	} {
		if got := isBeingCollected(test.history); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestAConvergenceWaitsForTheGarbageCollector creates a child whose owner was deleted but that the garbage collector
// never deletes. The run waits for collectionTimeout and then converges.
func TestAConvergenceWaitsForTheGarbageCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, _ := newIdleRun(t)
		began := time.Now()
		owner, child := observed("v1", "ConfigMap", 1, nil), observed("v1", "Secret", 1, nil)
		for i, object := range []*unstructured.Unstructured{&owner, &child} {
			object.SetNamespace("run")
			object.SetName(object.GetKind())
			object.SetUID(types.UID(object.GetKind()))
			object.SetResourceVersion(strconv.Itoa(i + 1))
		}
		child.SetOwnerReferences([]metav1.OwnerReference{{UID: owner.GetUID()}})
		gone := owner.DeepCopy()
		gone.SetResourceVersion("3")
		for _, version := range []record.ObjectVersion{{Unstructured: &owner}, {Unstructured: &child}, {Unstructured: gone, Deleted: true}} {
			version.Time = began
			r.waiter.history.Record(version)
		}
		unstable, difference := r.waiter.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
		g.Expect(errors.Join(unstable, difference)).To(Succeed())
		g.Expect(time.Since(began)).To(And(BeNumerically(">=", collectionTimeout), BeNumerically("<", 2*collectionTimeout)))
	})
}
