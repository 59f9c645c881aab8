package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// workloadObject is a WebServer or a Memcached.
type workloadObject interface {
	client.Object
	CommonStatus() *workload.Status
}

// newNamespace creates a namespace for the spec. Its objects are saved as artifacts if the spec fails.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := plane.CreateNamespace(ctx, "spec")
	Expect(err).NotTo(HaveOccurred())
	keepArtifacts(plane, assay, namespace)
	DeferCleanup(func() { history.Drop(namespace) })
	return namespace
}

func newWebServer(namespace, name string, replicas int32) *webserverv1.WebServer {
	return &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: new(replicas)},
	}
}

func newMemcached(namespace, name string, size int32) *memcachedv1alpha1.Memcached {
	return &memcachedv1alpha1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       memcachedv1alpha1.MemcachedSpec{Size: size},
	}
}

func create(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(plane.Client.Create(ctx, object)).To(Succeed())
	}
}

// serving creates a resource and waits until its status reports that the given number of Pods is ready and the rollout
// is complete.
func serving[R workloadObject](ctx context.Context, resource R, pods int32) R {
	GinkgoHelper()
	create(ctx, resource)
	waitFor(ctx, current(resource), beReady(pods))
	return resource
}

func current[R workloadObject](resource R) func(context.Context) (R, error) {
	return func(ctx context.Context) (R, error) {
		return resource, plane.Client.Get(ctx, client.ObjectKeyFromObject(resource), resource)
	}
}

// beReady matches a resource whose status reports, for its current generation, that the given number of Pods is ready
// and the rollout is complete.
func beReady(replicas int32) types.GomegaMatcher {
	return WithTransform(func(resource workloadObject) string {
		status := resource.CommonStatus()
		return fmt.Sprintf("generation %d, %d of %d ready, %d named, Available %t, Progressing %t, Degraded %t",
			status.ObservedGeneration-resource.GetGeneration(), status.ReadyReplicas, status.Replicas, len(status.Nodes),
			meta.IsStatusConditionTrue(status.Conditions, workload.Available),
			!meta.IsStatusConditionFalse(status.Conditions, workload.Progressing),
			!meta.IsStatusConditionFalse(status.Conditions, workload.Degraded))
	}, Equal(fmt.Sprintf("generation 0, %d of %d ready, %d named, Available %t, Progressing false, Degraded false",
		replicas, replicas, replicas, replicas > 0)))
}

// haveCondition matches a resource that has the given condition for its current generation.
func haveCondition(kind string, status metav1.ConditionStatus, reason string) types.GomegaMatcher {
	return WithTransform(func(resource workloadObject) string {
		c := meta.FindStatusCondition(resource.CommonStatus().Conditions, kind)
		if c == nil {
			return "none"
		}
		return fmt.Sprintf("%s=%s %s, generation %d", c.Type, c.Status, c.Reason, c.ObservedGeneration-resource.GetGeneration())
	}, Equal(fmt.Sprintf("%s=%s %s, generation 0", kind, status, reason)))
}

func deploymentOf(ctx context.Context, resource client.Object) *appsv1.Deployment {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(resource), deployment)).To(Succeed())
	return deployment
}

func serviceOf(ctx context.Context, web client.Object) *corev1.Service {
	GinkgoHelper()
	service := newService(web)
	Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
	return service
}

func newService(web client.Object) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: web.GetNamespace(), Name: web.GetName() + "-service"}}
}

func newDeployment(resource client.Object) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: resource.GetNamespace(), Name: resource.GetName()}}
}

// writesIn returns the number of the operator's writes in a namespace, not including Events.
func writesIn(namespace string) int {
	return len(assay.Requests.Requests(record.InNamespace(namespace)).Writes())
}
