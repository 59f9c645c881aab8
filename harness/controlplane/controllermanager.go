package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/operator-assay/assay/harness/process"
)

// controllers lists the Kubernetes controllers to run. Operators rely on them, and they do not need real nodes.
var controllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "horizontal-pod-autoscaler-controller",
	"garbage-collector-controller", "namespace-controller",
	"serviceaccount-controller", "resourcequota-controller",
	"endpointslice-controller", "endpoints-controller",
	"persistentvolumeclaim-protection-controller",
}

func (cp *ControlPlane) startControllerManager(ctx context.Context) error {
	log, err := cp.servers.openLog(controllerManagerName)
	if err != nil {
		return err
	}
	command := exec.Command(filepath.Join(cp.servers.dir, controllerManagerName),
		"--kubeconfig="+cp.servers.kubeconfig(),
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		// The default of 20 requests per second would slow down every test.
		"--kube-api-qps=5000",
		"--kube-api-burst=10000",
		// Each controller retries at most ten failed items per second. Under high load, a resync comes before the retry.
		"--min-resync-period=2s",
		// By default, the controller processes a new autoscaler only after 15 seconds. A test that waits until
		// nothing changes would finish before that.
		"--horizontal-pod-autoscaler-sync-period=200ms",
	)
	command.Stdout, command.Stderr = log, log
	if cp.manager, err = process.Start(command); err != nil {
		return cp.servers.startError(controllerManagerName, err)
	}
	// There is no health endpoint, because the secure port is disabled. Wait for the first object that it creates.
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx = cp.manager.Context(ctx)
	if err := cp.defaultServiceAccount(ctx, metav1.NamespaceDefault); err != nil {
		return cp.servers.startError(controllerManagerName, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

func (cp *ControlPlane) defaultServiceAccount(ctx context.Context, namespace string) error {
	accounts, err := cp.clientset.CoreV1().ServiceAccounts(namespace).Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: "default"}))
	if err == nil { // the watch also reports an existing ServiceAccount as added
		_, err = watchtools.UntilWithoutRetry(ctx, accounts, func(event watch.Event) (bool, error) { return event.Type == watch.Added, nil })
	}
	if err != nil {
		return fmt.Errorf("waiting for the default ServiceAccount of namespace %s: %w", namespace, err)
	}
	return nil
}
