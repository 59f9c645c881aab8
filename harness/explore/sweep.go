package explore

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// resynced are the kinds whose controllers work on each object again every few seconds, although nothing has changed.
// Those of Deployments and Services only look, which costs less than to delete them.
var resynced = []schema.GroupKind{
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind(),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget").GroupKind(),
	batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind(),
	batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind(),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind(),
}

// sweep deletes what a run whose operator has ended has left on the control plane that runs share, as far as that costs
// the runs that follow: a node port, or the time of Kubernetes' controllers, which would do little else after some
// hundred runs.
func (r *run) sweep(ctx context.Context) {
	left := r.at.history.Objects(r.namespace)
	r.at.history.Drop(r.namespace)
	for _, object := range left {
		if slices.Contains(resynced, object.GroupVersionKind().GroupKind()) || hasNodePort(object) {
			// An error means that it has gone, or stays, which costs time and changes no result.
			_ = r.at.ControlPlane.Client.Delete(ctx, &object, client.PropagationPolicy("Background"))
		}
	}
}

// hasNodePort tells whether an object is a Service with a port of which the cluster has one.
func hasNodePort(object unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	return object.GetKind() == "Service" && object.GetAPIVersion() == "v1" &&
		(kind == string(corev1.ServiceTypeNodePort) || kind == string(corev1.ServiceTypeLoadBalancer))
}
