package faults_test

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// errNodePortConflict means that a walk must be rerun because its resource is legitimately waiting for a node port.
// There are two causes. While a Service is being deleted, its port may be allocated to another walk's Service. Also,
// the API server allocates a port before it writes the Service. If that write fails with a conflict, the port stays
// allocated for minutes without a Service.
var errNodePortConflict = errors.New("a node port that must be kept is in use")

// nodePortConflict reports whether a resource in the namespace must keep a node port that is not available.
func (w *walk) nodePortConflict() bool {
	webs, services := &webserverv1.WebServerList{}, &corev1.ServiceList{}
	if plane.Client.List(w.ctx, webs, client.InNamespace(w.namespace)) != nil || plane.Client.List(w.ctx, services) != nil {
		return false
	}
	return hasForeignPort(w.namespace, webs.Items, services.Items) || hasLeakedPort(w.namespace, w.injector.Requests.Requests(), services.Items)
}

// hasForeignPort reports whether a Service in another namespace has a port that a resource in this namespace must keep.
func hasForeignPort(namespace string, webs []webserverv1.WebServer, services []corev1.Service) bool {
	return slices.ContainsFunc(webs, func(web webserverv1.WebServer) bool {
		return slices.ContainsFunc(services, func(service corev1.Service) bool {
			return service.Namespace != namespace && hasPort(service, web.Status.NodePort)
		})
	})
}

// taken matches the API server's error for a port that is already allocated.
var taken = regexp.MustCompile(`nodePort: Invalid value: (\d+): provided port is already allocated`)

// hasLeakedPort reports whether the API server rejected a port as already allocated although no Service in the
// namespace has it.
func hasLeakedPort(namespace string, requests record.Requests, services []corev1.Service) bool {
	return slices.ContainsFunc(requests, func(request record.Request) bool {
		found := taken.FindStringSubmatch(request.Message)
		if found == nil {
			return false
		}
		port, err := strconv.ParseInt(found[1], 10, 32)
		return err == nil && !slices.ContainsFunc(services, func(service corev1.Service) bool {
			return service.Namespace == namespace && hasPort(service, int32(port))
		})
	})
}

func hasPort(service corev1.Service, port int32) bool {
	return port != 0 && slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.NodePort == port })
}

func TestNodePortConflict(t *testing.T) {
	g := NewWithT(t)
	service := func(namespace string, port int32) corev1.Service {
		s := corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: port}}}}
		s.Namespace = namespace
		return s
	}
	web := webserverv1.WebServer{}
	g.Expect(hasForeignPort("a", []webserverv1.WebServer{web}, []corev1.Service{service("b", 0)})).To(BeFalse(), "the status has no node port yet")
	web.Status.NodePort = 30200
	g.Expect(hasForeignPort("a", []webserverv1.WebServer{web}, []corev1.Service{service("b", 30200)})).To(BeTrue())
	g.Expect(hasForeignPort("a", []webserverv1.WebServer{web}, []corev1.Service{service("a", 30200), service("b", 30201)})).To(BeFalse())

	refused := record.Requests{{Message: `Service "w-service" is invalid: spec.ports[0].nodePort: Invalid value: 30200: provided port is already allocated`}}
	g.Expect(hasLeakedPort("a", refused, []corev1.Service{service("b", 30200)})).To(BeTrue(), "the Service belongs to another walk")
	g.Expect(hasLeakedPort("a", refused, nil)).To(BeTrue())
	g.Expect(hasLeakedPort("a", refused, []corev1.Service{service("a", 30200)})).To(BeFalse(), "the port is used by the Service of the walk")
	g.Expect(hasLeakedPort("a", record.Requests{{Message: "Service is invalid: spec.ports[0].nodePort: Invalid value: 7: provided port is not in the valid range"}}, nil)).To(BeFalse())
}

// TestTakenMatchesAPIServerError checks that the pattern still matches the API server's error message.
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
