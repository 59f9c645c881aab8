package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	nodeutil "k8s.io/component-helpers/node/util"

	"github.com/operator-assay/assay/harness/wait"
)

// configOf reads a kubeconfig and the files it refers to. It replaces the file names with the contents, because
// client-go caches connections by file name and a replaced cluster has different certificates under the same name.
func configOf(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	err = rest.LoadTLSFiles(config)
	config.CAFile, config.CertFile, config.KeyFile = "", "", ""
	return config, err
}

// waitReady waits until enough nodes are ready, the given Deployments in kube-system are available, and Pods can be
// created in the default namespace. It retries after errors, because the API server has just started.
func waitReady(ctx context.Context, kubeconfig string, nodes int, deployments ...string) error {
	config, err := configOf(kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return wait.For(ctx, 0, wait.Poll(100*time.Millisecond), func(ctx context.Context) error {
		return checkReady(ctx, client, nodes, deployments)
	})
}

func checkReady(ctx context.Context, client kubernetes.Interface, nodes int, deployments []string) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if ready := slices.DeleteFunc(list.Items, func(node corev1.Node) bool { return !isReady(&node) }); len(ready) < nodes {
		return fmt.Errorf("%d of %d nodes are ready", len(ready), nodes)
	}
	for _, name := range deployments {
		if err := checkAvailable(ctx, client, metav1.NamespaceSystem, name); err != nil {
			return err
		}
	}
	// Pods without an explicit ServiceAccount are rejected until the default ServiceAccount exists.
	_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

func checkAvailable(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	d, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err == nil && (d.Status.AvailableReplicas < *d.Spec.Replicas || d.Status.ObservedGeneration < d.Generation) {
		err = fmt.Errorf("%d of %d Pods of %s are available", d.Status.AvailableReplicas, *d.Spec.Replicas, name)
	}
	return err
}

func isReady(node *corev1.Node) bool {
	_, ready := nodeutil.GetNodeCondition(&node.Status, corev1.NodeReady)
	return ready != nil && ready.Status == corev1.ConditionTrue &&
		!slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady })
}
