package fault

import (
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestLeaseOfCrashedInstanceIsFree(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me")}}
	for range 2 { // the Lease of the first instance has not expired when the second one starts
		client, instance, _ := behindProxy(t, injector)
		leases := client.CoordinationV1().Leases(namespace)
		_, err := leases.Get(ctx, "leader", metav1.GetOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		_, err = leases.Patch(ctx, "leader", types.MergePatchType, []byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}`), metav1.PatchOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
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
		instance.End()
	}
	g.Expect(audited(t, namespace)()).To(BeEmpty(), "requests for the Lease do not reach the API server")
	g.Expect(injector.Requests.Requests()).To(BeEmpty(), "requests for the Lease are not recorded")
}

// TestOlderLockOfCrashedInstanceIsFree uses the kinds of locks that preceded Leases.
func TestOlderLockOfCrashedInstanceIsFree(t *testing.T) {
	ofPod := metav1.ObjectMeta{Name: "leader", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "manager", UID: "1"}}}
	annotated := metav1.ObjectMeta{Name: "leader", Annotations: map[string]string{resourcelock.LeaderElectionRecordAnnotationKey: `{"holderIdentity":"me"}`}}
	for name, of := range map[string]struct {
		resource string
		object   lock
	}{
		"leader-for-life": {"configmaps", &corev1.ConfigMap{ObjectMeta: ofPod}},
		"ConfigMap":       {"configmaps", &corev1.ConfigMap{ObjectMeta: annotated}},
		"Endpoints":       {"endpoints", &corev1.Endpoints{ObjectMeta: annotated}}, //nolint:staticcheck // some operators still use it
	} {
		t.Run(name, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, "")
			for range 2 {
				client, instance := newInstance(t, injector)
				api := client.CoreV1().RESTClient()
				send := func(request *rest.Request) (runtime.Object, error) {
					return request.Namespace(namespace).Resource(of.resource).Do(ctx).Get()
				}
				_, err := send(api.Get().Name("leader"))
				g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
				_, err = send(api.Post().Body(of.object.DeepCopyObject()))
				g.Expect(err).NotTo(HaveOccurred())
				renewed := of.object.DeepCopyObject().(lock)
				renewed.SetLabels(map[string]string{"renewed": "true"})
				_, err = send(api.Put().Name("leader").Body(renewed))
				g.Expect(err).NotTo(HaveOccurred())
				found, err := send(api.Get().Name("leader"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(found.(lock).GetLabels()).To(HaveKey("renewed"))
				_, err = send(api.Delete().Name("leader"))
				g.Expect(err).NotTo(HaveOccurred())
				_, err = send(api.Post().Body(of.object.DeepCopyObject()))
				g.Expect(err).NotTo(HaveOccurred())
				instance.End()
				_, err = send(api.Get().Name("leader"))
				g.Expect(err).To(MatchError(ContainSubstring(errDisconnected.Error())), "a crashed instance cannot renew its lock")
			}
			g.Expect(audited(t, namespace)()).To(HaveEach("get leader"), "locks are not stored")
			g.Expect(injector.Writes()).To(BeEmpty())
			g.Expect(injector.RequestCounts()).To(BeEmpty(), "requests for locks are not counted")
		})
	}
}

// TestExistingObjectBecomesLock uses a ConfigMap from a manifest as the client-go lock.
func TestExistingObjectBecomesLock(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	set(t, namespace, "leader", "installed")
	for range 2 {
		client, instance := newInstance(t, injector)
		configMaps := client.CoreV1().ConfigMaps(namespace)
		found, err := configMaps.Get(ctx, "leader", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Annotations).NotTo(HaveKey(resourcelock.LeaderElectionRecordAnnotationKey))
		found.Annotations = map[string]string{resourcelock.LeaderElectionRecordAnnotationKey: `{"holderIdentity":"me"}`}
		for range 2 {
			found, err = configMaps.Update(ctx, found, metav1.UpdateOptions{})
			g.Expect(err).NotTo(HaveOccurred())
		}
		instance.End()
	}
	g.Expect(injector.Writes()).To(BeEmpty())
}

// TestOtherConfigMapsAreStored writes ConfigMaps that resemble locks.
func TestOtherConfigMapsAreStored(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, _ := newInstance(t, injector)
	owned := configMap("owned", "A")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "manager", UID: "1"}}
	empty := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}
	for _, object := range []*corev1.ConfigMap{owned, empty} {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(injector.Writes()).To(HaveLen(2))
	g.Expect(audited(t, namespace)()).To(HaveLen(2), "requests for other ConfigMaps reach the API server")
}
