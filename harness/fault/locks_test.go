package fault

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var (
	ofPod     = metav1.ObjectMeta{Name: "leader", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "manager", UID: "1"}}}
	annotated = metav1.ObjectMeta{Name: "leader", Annotations: map[string]string{resourcelock.LeaderElectionRecordAnnotationKey: `{"holderIdentity":"me"}`}}
)

// electorOf starts an operator instance and returns its client for leader election. The client sends protobuf, as
// controller-runtime does.
func electorOf(t *testing.T, injector *Injector, api *server) (*kubernetes.Clientset, *Instance) {
	t.Helper()
	config, instance := injector.NewInstance(&rest.Config{Host: "http://server", Transport: api, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}})
	client, err := kubernetes.NewForConfig(config)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return client, instance
}

func TestLeaseOfCrashedInstanceIsFree(t *testing.T) {
	g, ctx, injector, api := NewWithT(t), t.Context(), New(Scope{}), &server{}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me")}}
	for range 2 { // the Lease of the first instance has not expired when the second one starts
		client, instance := electorOf(t, injector, api)
		leases := client.CoordinationV1().Leases("run")
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
	g.Expect(api.received).To(BeEmpty(), "requests for the Lease do not reach the API server")
	g.Expect(injector.Requests.Requests()).To(BeEmpty(), "requests for the Lease are not recorded")
}

func TestOlderLockOfCrashedInstanceIsFree(t *testing.T) {
	for name, of := range map[string]struct {
		resource string
		object   runtime.Object
	}{
		"leader-for-life": {"configmaps", &corev1.ConfigMap{ObjectMeta: ofPod}},
		"ConfigMap":       {"configmaps", &corev1.ConfigMap{ObjectMeta: annotated}},
		"Endpoints":       {"endpoints", &corev1.Endpoints{ObjectMeta: annotated}}, //nolint:staticcheck // some operators still use it
	} {
		t.Run(name, func(t *testing.T) {
			g, injector := NewWithT(t), New(Scope{})
			api := &server{code: http.StatusNotFound, body: encodedAs(t, runtime.ContentTypeJSON, statusOf(apierrors.NewNotFound(corev1.Resource(of.resource), "leader")))}
			for range 2 {
				client, instance := electorOf(t, injector, api)
				send := func(request *rest.Request) (runtime.Object, error) {
					return request.Namespace("run").Resource(of.resource).Do(t.Context()).Get()
				}
				requests := client.CoreV1().RESTClient()
				_, err := send(requests.Get().Name("leader"))
				g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
				_, err = send(requests.Post().Body(of.object.DeepCopyObject()))
				g.Expect(err).NotTo(HaveOccurred())
				renewed := of.object.DeepCopyObject().(metav1.Object)
				renewed.SetLabels(map[string]string{"renewed": "true"})
				_, err = send(requests.Put().Name("leader").Body(renewed))
				g.Expect(err).NotTo(HaveOccurred())
				found, err := send(requests.Get().Name("leader"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(found.(metav1.Object).GetLabels()).To(HaveKey("renewed"))
				_, err = send(requests.Delete().Name("leader"))
				g.Expect(err).NotTo(HaveOccurred())
				_, err = send(requests.Post().Body(of.object.DeepCopyObject()))
				g.Expect(err).NotTo(HaveOccurred())
				instance.End()
				_, err = send(requests.Get().Name("leader"))
				g.Expect(err).To(MatchError(ContainSubstring(errDisconnected.Error())), "a crashed instance cannot renew its lock")
			}
			g.Expect(api.received).To(HaveEach(HaveField("Method", "GET")), "locks are not stored")
			g.Expect(injector.Journal.RequestCounts()).To(BeEmpty(), "requests for locks are not counted")
		})
	}
}

// TestLockWithoutKindIsNotStored creates locks like client-java, which relies on the URL to specify the kind.
func TestLockWithoutKindIsNotStored(t *testing.T) {
	const lock = `{"metadata":{"name":"a","annotations":{"` + resourcelock.LeaderElectionRecordAnnotationKey + `":"{}"}}}`
	for path, want := range map[string]string{
		"/apis/coordination.k8s.io/v1/namespaces/run/leases": "Lease",
		"/api/v1/namespaces/run/configmaps":                  "ConfigMap",
		"/api/v1/namespaces/run/endpoints":                   "Endpoints",
	} {
		g, api := NewWithT(t), &server{}
		client, _ := operatorOf(t, New(Scope{}), api)
		response, err := client.Post("http://server"+path, runtime.ContentTypeJSON, strings.NewReader(lock))
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		g.Expect(io.ReadAll(response.Body)).To(ContainSubstring(`"kind":"` + want + `"`))
		g.Expect(api.received).To(BeEmpty())
	}
}

// TestOtherConfigMapsAreStored updates ConfigMaps that resemble locks, and then turns the last one into a lock by
// adding client-go's leader annotation.
func TestOtherConfigMapsAreStored(t *testing.T) {
	g, ctx, api := NewWithT(t), t.Context(), &server{code: http.StatusOK, body: []byte(`{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "leader"}}`)}
	client, _ := electorOf(t, New(Scope{}), api)
	configMaps := client.CoreV1().ConfigMaps("run")
	owned := &corev1.ConfigMap{ObjectMeta: ofPod, Data: map[string]string{"value": "A"}}
	for i, object := range []*corev1.ConfigMap{owned, {ObjectMeta: metav1.ObjectMeta{Name: "leader"}}} {
		_, err := configMaps.Update(ctx, object, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(api.received).To(HaveLen(i + 1))
	}
	for range 2 {
		_, err := configMaps.Update(ctx, &corev1.ConfigMap{ObjectMeta: annotated}, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(api.received).To(HaveLen(2), "the lock is not stored")
}
