package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

// NodePortsStay returns an error if a Service's node port changes to any port other than the one in the WebServer's
// status. A change to that port is allowed, because it repairs a Service that the operator created just before a crash.
// Do not use NodePortsStay if a user changes the node port.
func NodePortsStay(history []record.ObjectVersion) error {
	ports := map[types.UID]int64{} // by the UID of a Service or WebServer
	var errs []error
	for _, version := range history {
		switch version.GetKind() {
		case webServer.Kind:
			ports[version.GetUID()], _, _ = unstructured.NestedInt64(version.Object, "status", "nodePort")
		case "Service":
			owner, before, is := metav1.GetControllerOf(version), ports[version.GetUID()], nodePort(version.Unstructured)
			if before != 0 && is != before && (owner == nil || is != ports[owner.UID]) {
				errs = append(errs, fmt.Errorf("Service %s had node port %d and has %d at resourceVersion %s", version.GetName(), before, is, version.GetResourceVersion()))
			}
			ports[version.GetUID()] = is
		}
	}
	return errors.Join(errs...)
}

func nodePort(service *unstructured.Unstructured) (port int64) {
	if ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports"); len(ports) > 0 {
		port, _, _ = unstructured.NestedInt64(ports[0].(map[string]any), "nodePort")
	}
	return port
}

// PortIsAllocated is the API server's error message for a node port that is already allocated.
const PortIsAllocated = "provided port is already allocated"

// HasLeakedNodePort reports whether a WebServer waits for a node port that is allocated but not used by a Service. The
// API server allocates a port before it stores the Service. If the request fails or is canceled in between, the port
// stays allocated for minutes. While a Service is being deleted, its port may also be allocated to another Service.
func HasLeakedNodePort(objects []unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(web unstructured.Unstructured) bool {
		s, err := Observe(&web)
		degraded := meta.FindStatusCondition(s.Conditions, workload.Degraded)
		return err == nil && degraded != nil && strings.Contains(degraded.Message, PortIsAllocated) &&
			!slices.ContainsFunc(objects, func(other unstructured.Unstructured) bool {
				return other.GetKind() == "Service" && nodePort(&other) == int64(s.NodePort)
			})
	})
}
