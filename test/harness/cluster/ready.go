package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
)

// clientOf returns a client for the administrator of a kubeconfig.
func clientOf(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// nodesReady waits until as many nodes are ready for Pods.
func nodesReady(ctx context.Context, client kubernetes.Interface, wanted int) error {
	ready := map[string]bool{}
	err := until(ctx, client.CoreV1().RESTClient(), "nodes", "", fields.Everything(), &corev1.Node{}, func(object runtime.Object) bool {
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

// isReady tells whether a node is, and is no longer kept free because it was not.
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

// podsWelcome waits for the ServiceAccount of Pods that name none, without which the default namespace
// admits none of them.
func podsWelcome(ctx context.Context, client kubernetes.Interface) error {
	err := until(ctx, client.CoreV1().RESTClient(), "serviceaccounts", metav1.NamespaceDefault, named("default"),
		&corev1.ServiceAccount{}, func(runtime.Object) bool { return true })
	if err != nil {
		return fmt.Errorf("the default ServiceAccount is not there: %w", err)
	}
	return nil
}

// deploymentAvailable waits until all replicas of a Deployment are.
func deploymentAvailable(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	var available, wanted int32
	err := until(ctx, client.AppsV1().RESTClient(), "deployments", namespace, named(name), &appsv1.Deployment{}, func(object runtime.Object) bool {
		deployment := object.(*appsv1.Deployment)
		available, wanted = deployment.Status.AvailableReplicas, *deployment.Spec.Replicas
		return available >= wanted && deployment.Status.ObservedGeneration >= deployment.Generation
	})
	if err != nil {
		return fmt.Errorf("%d of %d Pods of %s are available: %w", available, wanted, name, err)
	}
	return nil
}

func named(name string) fields.Selector {
	return fields.OneTermEqualSelector(metav1.ObjectNameField, name)
}

// until watches objects until one that is there makes the condition true.
func until(ctx context.Context, client rest.Interface, resource, namespace string, selected fields.Selector, kind runtime.Object,
	condition func(runtime.Object) bool,
) error {
	// The end of a watch is worth a warning to what follows it, and to nobody else.
	ctx = klog.NewContext(ctx, klog.Logger{})
	objects := cache.NewListWatchFromClient(client, resource, namespace, selected)
	_, err := watchtools.UntilWithSync(ctx, objects, kind, nil, func(event watch.Event) (bool, error) {
		return event.Type != watch.Deleted && condition(event.Object), nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
