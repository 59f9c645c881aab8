package scenarios

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// ChildrenAreSingle judges every version of Deployments and Services that a watcher could see: each has
// a WebServer or Memcached for its controller from the beginning, which has no other of the kind.
func ChildrenAreSingle(history []oracle.Version) error {
	type place struct {
		owner types.UID
		kind  string
	}
	var amiss []error
	children := map[types.UID]place{} // those that live
	for _, version := range history {
		kind := version.GetKind()
		if kind != "Deployment" && kind != "Service" {
			continue
		}
		delete(children, version.GetUID())
		owner := metav1.GetControllerOf(version)
		if owner == nil || owner.Kind != webServer.Kind && owner.Kind != memcached.Kind {
			amiss = append(amiss, fmt.Errorf("%s %s at resourceVersion %s belongs to nobody", kind, version.GetName(), version.GetResourceVersion()))
			continue
		}
		if version.Deleted || version.GetDeletionTimestamp() != nil {
			continue
		}
		at := place{owner.UID, kind}
		for _, other := range children {
			if other == at {
				amiss = append(amiss, fmt.Errorf("%s %s has another %s at resourceVersion %s", owner.Kind, owner.Name, kind, version.GetResourceVersion()))
			}
		}
		children[version.GetUID()] = at
	}
	return errors.Join(amiss...)
}
