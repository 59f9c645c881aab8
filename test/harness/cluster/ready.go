package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operator-assay/assay/test/harness/wait"
)

// clientOf returns a client for the administrator of a kubeconfig.
func clientOf(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := configOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// configOf reads a kubeconfig, and the files that it names. client-go shares connections between configs whose files
// have the same names; those of a replaced cluster hold other certificates.
func configOf(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	err = rest.LoadTLSFiles(config)
	config.CAFile, config.CertFile, config.KeyFile = "", "", ""
	return config, err
}

// nodesReady waits until as many nodes are ready for Pods.
func nodesReady(ctx context.Context, client kubernetes.Interface, wanted int) error {
	ready := map[string]bool{}
	err := until(ctx, client.CoreV1().RESTClient(), "nodes", "", fields.Everything(), func(object runtime.Object) bool {
		if node := object.(*corev1.Node); isReady(node) {
			ready[node.Name] = true
		} else {
			delete(ready, node.Name)
		}
		return len(ready) >= wanted
	})
	if err != nil {
		return fmt.Errorf("%d of %d nodes are ready: %w", len(ready), wanted, err)
	}
	return nil
}

// isReady tells whether a node is ready and no longer tainted as not ready.
func isReady(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waitServiceAccount waits for the default ServiceAccount, without which the default namespace admits no Pods.
func waitServiceAccount(ctx context.Context, client kubernetes.Interface) error {
	err := until(ctx, client.CoreV1().RESTClient(), "serviceaccounts", metav1.NamespaceDefault, byName("default"),
		func(runtime.Object) bool { return true })
	if err != nil {
		return fmt.Errorf("the default ServiceAccount is not there: %w", err)
	}
	return nil
}

// deploymentAvailable waits until all replicas of a Deployment are available.
func deploymentAvailable(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	var available, wanted int32
	err := until(ctx, client.AppsV1().RESTClient(), "deployments", namespace, byName(name), func(object runtime.Object) bool {
		deployment := object.(*appsv1.Deployment)
		available, wanted = deployment.Status.AvailableReplicas, *deployment.Spec.Replicas
		return available >= wanted && deployment.Status.ObservedGeneration >= deployment.Generation
	})
	if err != nil {
		return fmt.Errorf("%d of %d Pods of %s are available: %w", available, wanted, name, err)
	}
	return nil
}

func byName(name string) fields.Selector {
	return fields.OneTermEqualSelector(metav1.ObjectNameField, name)
}

// until lists objects, ten times a second, until one of them meets the condition or ctx ends. The API server has
// only just begun to serve, so a request that fails is repeated.
func until(ctx context.Context, client rest.Interface, resource, namespace string, selected fields.Selector,
	condition func(runtime.Object) bool,
) error {
	objects := cache.NewListWatchFromClient(client, resource, namespace, selected)
	return wait.For(ctx, 0, wait.Poll(100*time.Millisecond), func(ctx context.Context) error {
		list, err := objects.ListWithContext(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		found, err := meta.ExtractList(list)
		if err != nil {
			return wait.Stop(err)
		}
		if !slices.ContainsFunc(found, condition) {
			return fmt.Errorf("%s in namespace %q do not meet the condition yet", resource, namespace)
		}
		return nil
	})
}
