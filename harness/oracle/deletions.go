package oracle

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StuckDeletion is an object whose deletion is blocked by finalizers.
type StuckDeletion struct {
	Kind       string
	Name       string // normalized like the names in a Snapshot
	Finalizers []string
}

// StuckDeletions returns the objects whose deletion is blocked by finalizers. It ignores finalizers that are managed by
// Kubernetes or by the given user. Call it only when the objects have stopped changing.
func StuckDeletions(namespace, user string, objects []unstructured.Unstructured) []StuckDeletion {
	mask := newNormalizer(namespace, objects)
	var stuck []StuckDeletion
	for _, object := range objects {
		if object.GetDeletionTimestamp() == nil {
			continue
		}
		finalizers := slices.DeleteFunc(object.GetFinalizers(), func(finalizer string) bool {
			return isOfKubernetes(finalizer) || IsSetBy(user, object, finalizer)
		})
		if len(finalizers) > 0 {
			stuck = append(stuck, StuckDeletion{object.GetKind(), mask.text(object.GetName()), finalizers})
		}
	}
	return stuck
}

// isOfKubernetes reports whether a Kubernetes component removes the finalizer.
func isOfKubernetes(finalizer string) bool {
	domain, _, _ := strings.Cut(finalizer, "/")
	return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents ||
		domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}

// IsSetBy reports whether the given user, and no other field manager, has set the finalizer.
func IsSetBy(user string, object unstructured.Unstructured, finalizer string) bool {
	setters := slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return !strings.Contains(entry.FieldsV1.GetRawString(), `"v:\"`+finalizer+`\""`)
	})
	return len(setters) > 0 && !slices.ContainsFunc(setters, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager != user })
}
