package explore

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/controlplane"
)

// underwayBound is how long, since the last change, a controller of Kubernetes is expected to observe a spec. On a busy machine that
// takes seconds; one that never does must not keep a run for ever.
const underwayBound = 10 * time.Second

// observing are the controllers of Kubernetes that say in the status which generation of the spec they have observed.
var observing = map[schema.GroupKind]string{
	{Group: "apps", Kind: "Deployment"}:  "deployment-controller",
	{Group: "apps", Kind: "ReplicaSet"}:  "replicaset-controller",
	{Group: "apps", Kind: "StatefulSet"}: "statefulset-controller",
	{Group: "apps", Kind: "DaemonSet"}:   "daemonset-controller",
}

// isUnderway tells whether a controller of Kubernetes has not observed a spec yet. The state is not final until it has: a
// Deployment has no ReplicaSet, say, although nothing changes and the operator is idle.
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

// notFinal returns when to look again at a state that is as expected, though nothing changes until then: controllers of
// Kubernetes are about to change it. It is nil if the state is final.
func (r *run) notFinal(lastChange time.Time) <-chan time.Time {
	var left time.Duration
	if isUnderway(r.at.history.Objects(r.namespace)) {
		left = underwayBound - time.Since(lastChange)
	}
	if isBeingCollected(r.at.history.Versions(r.namespace)) {
		left = max(left, collectBound-time.Since(lastChange))
	}
	if left <= 0 {
		return nil
	}
	return time.After(left)
}
