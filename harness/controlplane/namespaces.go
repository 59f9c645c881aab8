package controlplane

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CreateNamespace creates a namespace with a unique name that starts with prefix. It waits for the default
// ServiceAccount, so that Pods can be created in the namespace. Tests do not need to delete the namespace, which
// would take the namespace controller at least 5s.
func (cp *ControlPlane) CreateNamespace(ctx context.Context, prefix string) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	if err := cp.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("cannot create a namespace: %w", err)
	}
	return namespace.Name, cp.waitNamespace(ctx, namespace.Name)
}

// EnsureNamespace creates a namespace if it does not exist, and waits until Pods can be created in it.
func (cp *ControlPlane) EnsureNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(cp.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("cannot create namespace %s: %w", name, err)
	}
	return cp.waitNamespace(ctx, name)
}

func (cp *ControlPlane) waitNamespace(ctx context.Context, name string) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := cp.defaultServiceAccount(cp.manager.Context(waiting), name); err != nil {
		return errors.Join(err, cp.servers.exited())
	}
	return nil
}

// PausePods stops the fake nodes from changing Pods in a namespace: new Pods stay Pending, and deleted Pods stay
// Terminating. It waits for changes that are in progress. A paused namespace cannot be deleted while it contains Pods.
func (cp *ControlPlane) PausePods(namespace string) {
	cp.nodes.syncing.Lock()
	defer cp.nodes.syncing.Unlock()
	cp.nodes.paused.Insert(namespace)
}

// ResumePods undoes PausePods. The fake nodes handle the namespace's Pods again within milliseconds.
func (cp *ControlPlane) ResumePods(namespace string) {
	cp.nodes.syncing.Lock()
	defer cp.nodes.syncing.Unlock()
	cp.nodes.paused.Delete(namespace)
}
