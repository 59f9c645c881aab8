package faults_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// errNodePortConflict means that a walk must be rerun because its resource is legitimately waiting for a node port.
// There are two causes. While a Service is being deleted, its port may be allocated to another walk's Service. Also,
// the API server allocates a port before it writes the Service. If that write fails with a conflict, the port stays
// allocated for minutes without a Service.
var errNodePortConflict = errors.New("a node port that must be kept is in use")

// nodePortConflict reports whether the API server rejected a Service of the walk for its node port. The operator retries
// until the walk ends, so the requests contain a rejection if a port that it must keep is taken.
func (w *walk) nodePortConflict() bool {
	services := &corev1.ServiceList{}
	if plane.Client.List(w.ctx, services, client.InNamespace(w.namespace)) != nil {
		return false
	}
	return lacksPort(w.injector.Requests.Requests(), services.Items)
}

// taken matches the API server's error for a port that is already allocated.
var taken = regexp.MustCompile(`nodePort: Invalid value: (\d+): provided port is already allocated`)

// lacksPort reports whether the API server rejected a port because it is already allocated, but not to one of the given
// Services.
func lacksPort(requests record.Requests, services []corev1.Service) bool {
	return slices.ContainsFunc(requests, func(request record.Request) bool {
		found := taken.FindStringSubmatch(request.Message)
		return found != nil && !slices.ContainsFunc(services, func(service corev1.Service) bool {
			return slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return fmt.Sprint(p.NodePort) == found[1] })
		})
	})
}

func TestNodePortConflict(t *testing.T) {
	g := NewWithT(t)
	services := []corev1.Service{{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: 30200}}}}}
	refused := record.Requests{{Message: `Service "w-service" is invalid: spec.ports[0].nodePort: Invalid value: 30200: provided port is already allocated`}}
	g.Expect(lacksPort(refused, nil)).To(BeTrue())
	g.Expect(lacksPort(refused, services)).To(BeFalse(), "a later attempt succeeded")
	g.Expect(lacksPort(record.Requests{{Message: "Service is invalid: spec.ports[0].nodePort: Invalid value: 7: provided port is not in the valid range"}}, nil)).To(BeFalse())
}

func TestTakenMatchesAPIServerError(t *testing.T) {
	g := NewWithT(t)
	var port int32
	for range 2 {
		namespace, err := plane.CreateNamespace(t.Context(), "walk")
		g.Expect(err).NotTo(HaveOccurred())
		service := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}}}}
		service.Namespace, service.Name = namespace, "taken"
		err = plane.Client.Create(t.Context(), service)
		if port == 0 {
			g.Expect(err).NotTo(HaveOccurred())
			port = service.Spec.Ports[0].NodePort
			t.Cleanup(func() { _ = plane.Client.Delete(t.Context(), service) })
			continue
		}
		g.Expect(taken.FindStringSubmatch(err.Error())).To(HaveExactElements(Not(BeEmpty()), strconv.Itoa(int(port))))
	}
}
