package faultinject

import (
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestEachInstanceFindsTheLeaseFree(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me")}}
	for range 2 { // the second instance starts while the first one's Lease would be held
		client, instance, _ := behindProxy(t, injector)
		leases := client.CoordinationV1().Leases(namespace)
		_, err := leases.Get(ctx, "leader", metav1.GetOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		held, err := leases.Create(ctx, lease, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		g.Expect(apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)

		held.Spec.HolderIdentity = new("still me")
		renewed, err := leases.Update(ctx, held, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(renewed.UID).To(Equal(held.UID))
		_, err = leases.Update(ctx, held, metav1.UpdateOptions{})
		g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		patched, err := leases.Patch(ctx, "leader", types.MergePatchType, []byte(`{"spec":{"leaseTransitions":7}}`), metav1.PatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*patched.Spec.LeaseTransitions).To(BeEquivalentTo(7))
		g.Expect(*patched.Spec.HolderIdentity).To(Equal("still me"))
		instance.End()
	}
	g.Expect(audited(t, namespace)()).To(BeEmpty(), "no election reaches the API server")
	g.Expect(injector.Requests.Requests()).To(BeEmpty(), "and it is no activity")
}
