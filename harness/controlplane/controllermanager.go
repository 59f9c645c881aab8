package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// controllers contains the Kubernetes controllers to run. They manage objects that operators create, and do not need
// real nodes.
var controllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "horizontal-pod-autoscaler-controller",
	"garbage-collector-controller", "namespace-controller",
	"serviceaccount-controller", "resourcequota-controller",
	"endpointslice-controller",
	"persistentvolumeclaim-protection-controller",
}

// Runs reports whether a control plane runs the given Kubernetes controller.
func Runs(controller string) bool { return slices.Contains(controllers, controller) }

func (cp *ControlPlane) startControllerManager(ctx context.Context) error {
	// The controller-manager has no health endpoint, because its secure port is disabled. Wait for the first object
	// that it creates.
	ready := func(ctx context.Context) error { return cp.defaultServiceAccount(ctx, metav1.NamespaceDefault) }
	return cp.servers.run(ctx, controllerManagerName, ready,
		"--kubeconfig="+cp.servers.kubeconfig(),
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		// The default of 20 requests per second would slow down every test.
		"--kube-api-qps=5000",
		"--kube-api-burst=10000",
		// Each controller retries at most ten failed items per second, so under high load an item can wait for minutes.
		// A resync requeues it earlier.
		"--min-resync-period=2s",
		// By default, the controller processes a new autoscaler only after 15 seconds. A test that waits until
		// nothing changes would finish before that.
		"--horizontal-pod-autoscaler-sync-period=200ms",
	)
}

func (cp *ControlPlane) defaultServiceAccount(ctx context.Context, namespace string) error {
	accounts := cache.NewListWatchFromClient(cp.clientset.CoreV1().RESTClient(), "serviceaccounts", namespace,
		fields.OneTermEqualSelector(metav1.ObjectNameField, "default"))
	_, err := watchtools.UntilWithSync(ctx, accounts, &corev1.ServiceAccount{}, nil,
		func(event watch.Event) (bool, error) { return event.Type == watch.Added, nil })
	if err != nil {
		return fmt.Errorf("waiting for the default ServiceAccount of namespace %s: %w", namespace, err)
	}
	return nil
}
