package oracle

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Child is an object that the operator created.
type Child struct {
	Kind schema.GroupVersionKind
	Name string // contains a * for the part that varies between runs
}

// IsRecreated compares the snapshots from before and after the deletion of a child. recreated is true if neither the
// number of matching objects nor the total number of objects has decreased. isBug is true if the operator should have
// recreated a matching object but did not. created is a snapshot from another run, used to detect generated values.
func IsRecreated(child Child, created, before, after Snapshot) (recreated, isBug bool) {
	isLost := len(child.In(after)) < len(child.In(before))
	return !isLost && len(after) >= len(before), isLost && isRestorable(child, created, before)
}

// isRestorable reports whether an operator should recreate the child after its deletion. It returns false for objects
// that many operators intentionally create only once:
//   - objects without an owner
//   - objects that may store data or record a past event, such as a finished Pod or a custom resource
//   - Secrets and ConfigMaps with generated values, because a new value would not match the old one
func isRestorable(child Child, created, before Snapshot) bool {
	states := child.In(before)
	if slices.Contains(createdOnce, child.Kind.GroupKind().String()) || !scheme.Scheme.Recognizes(child.Kind) {
		return false
	}
	var object unstructured.Unstructured
	if json.Unmarshal([]byte(states[0]), &object.Object) != nil || len(object.GetOwnerReferences()) == 0 {
		return false
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	switch child.Kind.GroupKind().String() {
	case "Pod":
		return phase != "Succeeded" && phase != "Failed"
	case "Secret", "ConfigMap":
		return slices.Equal(states, child.In(created))
	}
	return true
}

// createdOnce lists kinds that need not be recreated, because their objects store data or record a past event.
var createdOnce = []string{
	"ControllerRevision.apps", "Event", "Event.events.k8s.io", "Job.batch", "Lease.coordination.k8s.io", "PersistentVolumeClaim",
	"CertificateSigningRequest.certificates.k8s.io",
}

// In returns the objects in the snapshot that match the child, as JSON.
func (c Child) In(snapshot Snapshot) []string {
	var found []string
	for _, key := range slices.Sorted(maps.Keys(snapshot)) {
		name := path.Base(numbered.ReplaceAllString(key, ""))
		if matches, _ := path.Match(c.Name, name); matches && strings.HasPrefix(key, c.Kind.GroupKind().String()+"/") {
			found = append(found, snapshot[key])
		}
	}
	return found
}
