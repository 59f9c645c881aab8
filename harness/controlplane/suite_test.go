package controlplane_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
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

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
)

// timeout is long enough for an overloaded machine.
const timeout = 30 * time.Second

// All specs share cp, and each spec uses its own namespace. temp contains the temporary files of cp.
var (
	cp   *controlplane.ControlPlane
	temp string
)

// withoutRoute is an environment variable that is set when the tests run in Linux namespaces.
const withoutRoute = "ASSAY_TEST_WITHOUT_ROUTE"

// TestMain runs the tests in Linux namespaces with only a loopback device and a read-only cache directory for envtest,
// if that is permitted. This verifies that a control plane starts on an offline laptop with a read-only home directory.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(waitForeverVariable) != "" {
		startAndWaitForever()
	}
	cache, _ := os.UserCacheDir()
	ports := filepath.Join(cache, "kubebuilder-envtest") // created when this program was initialized
	offline := []string{"unshare", "-Urnm", "sh", "-c", `ip link set lo up && mount -t tmpfs -o ro tmpfs "$0" && exec "$@"`, ports}
	if !testing.Short() && os.Getenv(withoutRoute) == "" && exec.Command(offline[0], append(offline[1:], "true")...).Run() == nil {
		if err := enterOffline(offline); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// enterOffline downloads missing binaries and then replaces this process with one that runs in new Linux namespaces.
func enterOffline(offline []string) error {
	if _, err := binaries.Ensure(context.Background(), "", os.Stderr, controlplane.Binaries...); err != nil {
		return err
	}
	unshare, err := exec.LookPath(offline[0])
	if err != nil {
		return err
	}
	return syscall.Exec(unshare, append(offline, os.Args...), append(os.Environ(), withoutRoute+"=1", "ETCD_INITIAL_CLUSTER=other=http://127.0.0.1:1"))
}

func TestControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(timeout)
	SetDefaultEventuallyPollingInterval(5 * time.Millisecond)
	RunSpecs(t, "Control plane")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(GinkgoLogr)
	temp = GinkgoT().TempDir()
	GinkgoT().Setenv("TMPDIR", temp)
	var err error
	cp, err = controlplane.Start(ctx, controlplane.Options{CRDs: []string{"testdata"}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(expectCompleteStop)
})

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

func readyReplicas(ctx SpecContext, deployment *appsv1.Deployment) func() (int32, error) {
	return func() (int32, error) {
		err := cp.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)
		return deployment.Status.ReadyReplicas, err
	}
}
