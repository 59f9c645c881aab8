package explore

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/test/harness/record"
)

func TestAnObjectWithoutItsOwnersIsBeingCollected(t *testing.T) {
	version := func(uid string, deleted bool, owners ...string) record.ObjectVersion {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetUID(types.UID(uid))
		var references []metav1.OwnerReference
		for _, owner := range owners {
			references = append(references, metav1.OwnerReference{UID: types.UID(owner)})
		}
		object.SetOwnerReferences(references)
		return record.ObjectVersion{Unstructured: object, Deleted: deleted}
	}
	terminating := version("child", false, "old")
	terminating.SetDeletionTimestamp(new(metav1.Now()))
	owner, gone, other := version("old", false), version("old", true), version("new", false)
	for name, test := range map[string]struct {
		history []record.ObjectVersion
		want    bool
	}{
		"the owner exists":         {[]record.ObjectVersion{owner, version("child", false, "old")}, false},
		"the owner has gone":       {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other}, true},
		"the child has gone too":   {[]record.ObjectVersion{owner, version("child", false, "old"), gone, version("child", true, "old")}, false},
		"the child is terminating": {[]record.ObjectVersion{owner, gone, terminating}, false},
		"it has a new owner":       {[]record.ObjectVersion{owner, version("child", false, "old"), gone, other, version("child", false, "new")}, false},
		"another owner is left":    {[]record.ObjectVersion{owner, gone, other, version("child", false, "old", "new")}, false},
		"nobody knows the owner":   {[]record.ObjectVersion{version("child", false, "cluster-wide")}, false},
	} {
		if got := isBeingCollected(test.history); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
