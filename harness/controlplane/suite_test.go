package controlplane_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
)

// timeout is far more than anything here takes, for an overloaded machine.
const timeout = 30 * time.Second

// cp is shared by all specs, each in a namespace of its own.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(starveVariable) != "" {
		startAndStarve()
	}
	os.Exit(m.Run())
}

func TestControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(timeout)
	SetDefaultEventuallyPollingInterval(5 * time.Millisecond)
	RunSpecs(t, "Control plane")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(GinkgoLogr)
	var err error
	began := time.Now()
	cp, err = controlplane.Start(ctx, controlplane.Options{CRDs: []string{"testdata"}})
	Expect(err).NotTo(HaveOccurred())
	AddReportEntry("started in", time.Since(began).String())
	DeferCleanup(func() {
		began := time.Now()
		Expect(cp.Stop()).To(Succeed())
		AddReportEntry("stopped in", time.Since(began).String())
	})
})

// newNamespace creates a namespace for the running spec.
func newNamespace(ctx SpecContext) string {
	GinkgoHelper()
	namespace, err := cp.CreateNamespace(ctx, "spec")
	Expect(err).NotTo(HaveOccurred())
	return namespace
}

func deployment(namespace, name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers:                    []corev1.Container{{Name: "main", Image: "example.com/main:v1"}},
					TerminationGracePeriodSeconds: ptr.To[int64](30),
				},
			},
		},
	}
}

func widget(namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetAPIVersion("example.com/v1")
	object.SetKind("Widget")
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

func podsOf(ctx SpecContext, namespace string) []corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(cp.Client.List(ctx, &pods, client.InNamespace(namespace))).To(Succeed())
	return pods.Items
}

// readyReplicas returns how many replicas of a Deployment are ready.
func readyReplicas(ctx SpecContext, deployment *appsv1.Deployment) func() (int32, error) {
	return readyReplicasAt(ctx, cp, deployment)
}

func readyReplicasAt(ctx SpecContext, plane *controlplane.ControlPlane, deployment *appsv1.Deployment) func() (int32, error) {
	return func() (int32, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)
		return deployment.Status.ReadyReplicas, err
	}
}
