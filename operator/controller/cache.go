package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// controllerUID is the index from an object to its controller, by which Pods are found through
// their ReplicaSet and ReplicaSets through their Deployment.
const controllerUID = "controllerUID"

// cacheOptions keep out of memory what is not this operator's, and what it does not look at.
// Deployments and Services keep their managed fields: these say which fields are ours.
func cacheOptions() cache.Options {
	ours := labels.SelectorFromSet(labels.Set{labelManagedBy: Name})
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&webserverv1.WebServer{}:       {Transform: cache.TransformStripManagedFields()},
		&memcachedv1alpha1.Memcached{}: {Transform: cache.TransformStripManagedFields()},
		&appsv1.Deployment{}:           {Label: ours},
		&corev1.Service{}:              {Label: ours},
		&corev1.Pod{}:                  {Label: ours, Transform: stripPod},
		&appsv1.ReplicaSet{}:           {Label: ours, Transform: stripReplicaSet},
	}}
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

// stripPod leaves of a Pod what tells whose it is and how it is.
func stripPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
		pod.Annotations = nil
		pod.Spec = corev1.PodSpec{}
		pod.Status = corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            pod.Status.Conditions,
			ContainerStatuses:     pod.Status.ContainerStatuses,
			InitContainerStatuses: pod.Status.InitContainerStatuses,
		}
	}
	return object, nil
}

func indexControllers(ctx context.Context, indexer client.FieldIndexer) error {
	byController := func(object client.Object) []string {
		if controller := metav1.GetControllerOf(object); controller != nil {
			return []string{string(controller.UID)}
		}
		return nil
	}
	if err := indexer.IndexField(ctx, &appsv1.ReplicaSet{}, controllerUID, byController); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &corev1.Pod{}, controllerUID, byController)
}
