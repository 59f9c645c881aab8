package scenarios

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// ChildrenAreSingle checks every observed version of each Deployment and Service. Each of them must always be
// controlled by a WebServer or a Memcached, and no resource may have two children of the same kind.
func ChildrenAreSingle(history []record.ObjectVersion) error {
	type place struct {
		owner types.UID
		kind  string
	}
	var errs []error
	children := map[types.UID]place{} // the existing children
	for _, version := range history {
		kind := version.GetKind()
		if kind != "Deployment" && kind != "Service" {
			continue
		}
		delete(children, version.GetUID())
		owner := metav1.GetControllerOf(version)
		if owner == nil || !isOurs(owner.Kind) {
			errs = append(errs, fmt.Errorf("%s %s at resourceVersion %s has no controller", kind, version.GetName(), version.GetResourceVersion()))
			continue
		}
		if version.Deleted || version.GetDeletionTimestamp() != nil {
			continue
		}
		at := place{owner.UID, kind}
		for _, other := range children {
			if other == at {
				errs = append(errs, fmt.Errorf("%s %s has another %s at resourceVersion %s", owner.Kind, owner.Name, kind, version.GetResourceVersion()))
			}
		}
		children[version.GetUID()] = at
	}
	return errors.Join(errs...)
}

// NodePortsStay returns an error if a Service's node port changes to any port other than the one in the WebServer's
// status. A change to that port is allowed, because it repairs a Service that the operator created just before a crash.
// Do not use NodePortsStay if a user changes the node port.
func NodePortsStay(history []record.ObjectVersion) error {
	type port struct {
		service types.UID
		name    string
	}
	was := map[port]int64{}
	named := map[types.UID]int64{} // from the statuses of WebServers
	var errs []error
	for _, version := range history {
		if version.GetKind() == webServer.Kind {
			named[version.GetUID()], _, _ = unstructured.NestedInt64(version.Object, "status", "nodePort")
		}
		if version.GetKind() != "Service" {
			continue
		}
		ports, _, err := unstructured.NestedSlice(version.Object, "spec", "ports")
		if err != nil {
			return err
		}
		for _, p := range ports {
			name, _, _ := unstructured.NestedString(p.(map[string]any), "name")
			is, _, _ := unstructured.NestedInt64(p.(map[string]any), "nodePort")
			at := port{version.GetUID(), name}
			owner := metav1.GetControllerOf(version)
			if was[at] != 0 && is != was[at] && (owner == nil || is != named[owner.UID]) {
				errs = append(errs, fmt.Errorf("Service %s had node port %d and has %d at resourceVersion %s", version.GetName(), was[at], is, version.GetResourceVersion()))
			}
			was[at] = is
		}
	}
	return errors.Join(errs...)
}
