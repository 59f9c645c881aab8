package fault

import (
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestLeaseOfCrashedInstanceIsFree(t *testing.T) {
	g, ctx, injector, api := NewWithT(t), t.Context(), New(Scope{}), &server{}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me")}}
	isNotFound := WithTransform(apierrors.IsNotFound, BeTrue())
	for range 2 { // the Lease of the first instance has not expired when the second one starts
		config, instance := injector.NewInstance(&rest.Config{Host: "http://server", Transport: api, QPS: -1,
			ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}) // as controller-runtime does
		client, err := kubernetes.NewForConfig(config)
		g.Expect(err).NotTo(HaveOccurred())
		leases := client.CoordinationV1().Leases("run")
		_, err = leases.Get(ctx, "leader", metav1.GetOptions{})
		g.Expect(err).To(isNotFound)
		_, err = leases.Patch(ctx, "leader", types.MergePatchType, []byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}`), metav1.PatchOptions{})
		g.Expect(err).To(isNotFound)
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		g.Expect(err).To(isNotFound)
		created, err := leases.Create(ctx, lease, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		created.Spec.HolderIdentity = new("still me")
		renewed, err := leases.Update(ctx, created, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(renewed.UID).To(Equal(created.UID))
		patched, err := leases.Patch(ctx, "leader", types.MergePatchType, []byte(`{"spec":{"leaseTransitions":7}}`), metav1.PatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*patched.Spec.LeaseTransitions).To(BeEquivalentTo(7))
		g.Expect(*patched.Spec.HolderIdentity).To(Equal("still me"))
		other, err := leases.Apply(ctx, coordinationv1ac.Lease("other", "run"), metav1.ApplyOptions{FieldManager: "me"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(leases.Delete(ctx, other.Name, metav1.DeleteOptions{})).To(Succeed())
		_, err = leases.Get(ctx, other.Name, metav1.GetOptions{})
		g.Expect(err).To(isNotFound)
		instance.End()
		_, err = leases.Get(ctx, "leader", metav1.GetOptions{})
		g.Expect(err).To(MatchError(ContainSubstring(errDisconnected.Error())), "a crashed instance cannot renew its Lease")
	}
	g.Expect(api.received).To(BeEmpty(), "requests for the Lease do not reach the API server")
	g.Expect(injector.Requests.Requests()).To(BeEmpty(), "requests for the Lease are not recorded")
	g.Expect(injector.RequestCounts()).To(BeEmpty(), "requests for the Lease are not counted")
}
