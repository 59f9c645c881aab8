package explore

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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

// TestAConvergenceWaitsForTheGarbageCollector has a child whose owner has gone, and is of a kind that the collector does not
// know: it waits to no avail, and goes on.
func TestAConvergenceWaitsForTheGarbageCollector(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).owningByAnotherKind}))
	began := time.Now()
	_, err := explorer.Observe(t.Context(), story("copier/delete", write("A"), converged, deleteOriginal, converged))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(began)).To(BeNumerically(">=", collectBound))
}

// owningByAnotherKind makes a copy whose owner reference has the right UID and a kind that does not exist.
func (c *copier) owningByAnotherKind(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	secret := applycorev1.Secret(of.Name+"-copy", of.Namespace).
		WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion("v1").WithKind("NoSuchKind").WithName(of.Name).WithUID(of.UID))
	return reconcile.Result{}, c.Apply(ctx, secret, client.FieldOwner("copier"), client.ForceOwnership)
}
