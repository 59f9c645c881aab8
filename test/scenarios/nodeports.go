package scenarios

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// NodePortsStay returns an error if a Service's node port changes to any port other than the one in the WebServer's
// status. A change to that port is allowed, because it repairs a Service that the operator created just before a crash.
// Do not use NodePortsStay if a user changes the node port.
func NodePortsStay(history []record.ObjectVersion) error {
	was, named := map[types.UID]int32{}, map[types.UID]int64{} // the ports of Services, and those in the statuses of WebServers
	var errs []error
	for _, version := range history {
		switch version.GetKind() {
		case webServer.Kind:
			named[version.GetUID()], _, _ = unstructured.NestedInt64(version.Object, "status", "nodePort")
		case "Service":
			service := &corev1.Service{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(version.Object, service); err != nil {
				return err
			}
			owner, before, is := metav1.GetControllerOf(service), was[service.UID], service.Spec.Ports[0].NodePort
			if before != 0 && is != before && (owner == nil || int64(is) != named[owner.UID]) {
				errs = append(errs, fmt.Errorf("Service %s had node port %d and has %d at resourceVersion %s", service.Name, before, is, service.ResourceVersion))
			}
			was[service.UID] = is
		}
	}
	return errors.Join(errs...)
}
