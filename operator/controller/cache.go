package controller

import (
	"context"
	"errors"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// The indexes of the cache.
const (
	// controllerUID is from an object to its controller: Pods are found through their ReplicaSet, and ReplicaSets
	// through their Deployment.
	controllerUID = "controllerUID"
	// specNodePort is from a WebServer to the node port that its spec asks for.
	specNodePort = "spec.nodePort"
)

// cacheOptions keep out of memory what is not this operator's, and what it does not look at.
func cacheOptions() cache.Options {
	ours := labels.SelectorFromSet(labels.Set{labelManagedBy: Name})
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&webserverv1.WebServer{}:       {Transform: cache.TransformStripManagedFields()},
		&memcachedv1alpha1.Memcached{}: {Transform: cache.TransformStripManagedFields()},
		&appsv1.Deployment{}:           {Label: ours, Transform: stripOthersManagedFields},
		&corev1.Service{}:              {Label: ours, Transform: stripOthersManagedFields},
		&corev1.Pod{}:                  {Label: ours, Transform: stripPod},
		&appsv1.ReplicaSet{}:           {Label: ours, Transform: stripReplicaSet},
	}}
}

// stripOthersManagedFields leaves of a child's managed fields this operator's, which say what it owns.
func stripOthersManagedFields(object any) (any, error) {
	if child, ok := object.(client.Object); ok {
		child.SetManagedFields(slices.DeleteFunc(child.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager != Name
		}))
	}
	return object, nil
}

// stripReplicaSet leaves of a ReplicaSet the link between a Deployment and its Pods. Reading only its
// metadata would be neater, but a metadata informer of controller-runtime 0.25 leaks a goroutine when
// it is stopped.
func stripReplicaSet(object any) (any, error) {
	if set, ok := object.(*appsv1.ReplicaSet); ok {
		set.ManagedFields = nil
		set.Annotations = nil
		set.Spec = appsv1.ReplicaSetSpec{}
		set.Status = appsv1.ReplicaSetStatus{}
	}
	return object, nil
}

// stripPod leaves of a Pod what tells whose it is, and of its status what is reported.
func stripPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
		pod.Annotations = nil
		pod.Spec = corev1.PodSpec{}
		status := corev1.PodStatus{Phase: pod.Status.Phase}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady || c.Type == corev1.PodScheduled {
				status.Conditions = append(status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
			}
		}
		status.ContainerStatuses = stripContainers(pod.Status.ContainerStatuses)
		status.InitContainerStatuses = stripContainers(pod.Status.InitContainerStatuses)
		pod.Status = status
	}
	return object, nil
}

func stripContainers(containers []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, c := range containers {
		kept = append(kept, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: c.Ready, State: corev1.ContainerState{Waiting: c.State.Waiting},
			LastTerminationState: corev1.ContainerState{Terminated: c.LastTerminationState.Terminated}})
	}
	return kept
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return errors.Join(
		indexer.IndexField(ctx, &appsv1.ReplicaSet{}, controllerUID, byController),
		indexer.IndexField(ctx, &corev1.Pod{}, controllerUID, byController),
		indexer.IndexField(ctx, &webserverv1.WebServer{}, specNodePort, bySpecNodePort),
	)
}

func byController(object client.Object) []string {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return []string{string(controller.UID)}
	}
	return nil
}

func bySpecNodePort(object client.Object) []string {
	if nodePort := object.(*webserverv1.WebServer).Spec.NodePort; nodePort != 0 {
		return []string{strconv.Itoa(int(nodePort))}
	}
	return nil
}
