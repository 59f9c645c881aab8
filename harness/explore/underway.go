package explore

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/controlplane"
)

// observing contains the kinds whose Kubernetes controllers set status.observedGeneration.
var observing = map[schema.GroupKind]string{
	{Group: "apps", Kind: "Deployment"}:  "deployment-controller",
	{Group: "apps", Kind: "ReplicaSet"}:  "replicaset-controller",
	{Group: "apps", Kind: "StatefulSet"}: "statefulset-controller",
	{Group: "apps", Kind: "DaemonSet"}:   "daemonset-controller",
}

// isUnderway reports whether a Kubernetes controller has not observed a spec yet. The state is not final until then.
// For example, the ReplicaSet of a Deployment may still be missing although the operator is idle.
func isUnderway(objects []unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool {
		controller, known := observing[object.GroupVersionKind().GroupKind()]
		if !known || !controlplane.Runs(controller) || object.GetDeletionTimestamp() != nil {
			return false
		}
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		return observed < object.GetGeneration()
	})
}

// notFinal returns a channel that fires when the state should be checked again, because Kubernetes controllers are
// expected to change it. It returns nil if the state is final.
func (r *run) notFinal(lastChange time.Time) <-chan time.Time {
	var left time.Duration
	if isUnderway(r.env.history.Objects(r.namespace)) {
		left = observationTimeout - time.Since(lastChange)
	}
	if isBeingCollected(r.env.history.Versions(r.namespace)) {
		left = max(left, collectionTimeout-time.Since(lastChange))
	}
	if left <= 0 {
		return nil
	}
	return time.After(left)
}
