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

// resynced are the kinds whose controllers process each object every few seconds even if nothing has changed.
// Deployments and Services are omitted, because processing them is cheaper than deleting them.
var resynced = []schema.GroupKind{
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind(),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget").GroupKind(),
	batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind(),
	batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind(),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind(),
}

// sweep deletes objects of a finished run from the shared control plane if they would slow down or block other runs.
// These are Services with node ports and the resynced kinds, which would keep the Kubernetes controllers busy after a
// few hundred runs.
func (r *run) sweep(ctx context.Context) {
	left := r.env.history.Objects(r.namespace)
	r.env.history.Drop(r.namespace)
	for _, object := range left {
		if slices.Contains(resynced, object.GroupVersionKind().GroupKind()) || hasNodePort(object) {
			// Ignore errors. An object that remains only slows down later runs.
			_ = r.env.config.ControlPlane.Client.Delete(ctx, &object, client.PropagationPolicy("Background"))
		}
	}
}

// hasNodePort reports whether an object is a Service that allocates node ports.
func hasNodePort(object unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	return object.GetKind() == "Service" && object.GetAPIVersion() == "v1" &&
		(kind == string(corev1.ServiceTypeNodePort) || kind == string(corev1.ServiceTypeLoadBalancer))
}
