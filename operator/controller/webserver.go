package controller

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// +kubebuilder:rbac:groups=my.domain,resources=webservers,verbs=get;list;watch
// +kubebuilder:rbac:groups=my.domain,resources=webservers/status,verbs=patch
// +kubebuilder:rbac:groups=my.domain,resources=webservers/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete

// What a WebServer's Service serves on inside the cluster.
const (
	servicePort     = 80
	servicePortName = "http"
)

// webServers is the kind WebServer: a Deployment NAME of its image, and a Service NAME-service that
// publishes it on a node port.
var webServers = kind[*webserverv1.WebServer]{
	GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
	empty:            func() *webserverv1.WebServer { return &webserverv1.WebServer{} },
	replicas:         func(ws *webserverv1.WebServer) int32 { return ptr.Deref(ws.Spec.Replicas, 1) },
	children:         webServerChildren,
	observe:          observeNodePort,
}

func addWebServers(manager ctrl.Manager) error {
	return add(manager, webServers, func(b *builder.Builder) {
		b.Watches(&corev1.Service{}, byName(serviceSuffix))
	})
}

func webServerChildren(k kind[*webserverv1.WebServer], ws *webserverv1.WebServer) []*child {
	pod := corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(server("webserver", string(ws.Spec.Image), ws.Spec.Port).
			WithSecurityContext(corev1ac.SecurityContext().WithAllowPrivilegeEscalation(false)))
	return []*child{k.deployment(ws, pod), webServerService(k, ws)}
}

// serviceSuffix makes a WebServer's name its Service's.
const serviceSuffix = "-service"

// webServerService is the child that publishes a WebServer. Its node port is the spec's or else the
// one that the WebServer had before; without either, the API server allocates one.
func webServerService(k kind[*webserverv1.WebServer], ws *webserverv1.WebServer) *child {
	name := ws.Name + serviceSuffix
	port := corev1ac.ServicePort().
		WithName(servicePortName).
		WithProtocol(corev1.ProtocolTCP).
		WithPort(servicePort).
		WithTargetPort(intstr.FromString(portName))
	if nodePort := cmp.Or(ws.Spec.NodePort, ws.Status.NodePort); nodePort != 0 {
		port.WithNodePort(nodePort)
	}
	want := corev1ac.Service(name, ws.Namespace)
	want.ObjectMetaApplyConfiguration = k.metadata(ws).WithName(name).WithNamespace(ws.Namespace)
	want.WithSpec(corev1ac.ServiceSpec().
		WithType(corev1.ServiceTypeNodePort).
		WithSelector(k.selector(ws)).
		WithPorts(port))

	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ws.Namespace}}
	return &child{
		kind:   "Service",
		object: object,
		want:   want,
		held: func() (any, error) {
			held, err := corev1ac.ExtractService(object, Name)
			if err == nil && nodePortOf(object) == ptr.Deref(port.NodePort, 0) {
				holdNodePort(held, port.NodePort)
			}
			return held, err
		},
		rivals: func() []edit { return rivalsInService(object, port) },
	}
}

// holdNodePort counts a node port that is as wanted as held, so that no write is made only to own
// what the API server chose by itself.
func holdNodePort(held *corev1ac.ServiceApplyConfiguration, nodePort *int32) {
	if held.Spec == nil {
		return
	}
	for i := range held.Spec.Ports {
		if ptr.Deref(held.Spec.Ports[i].Port, 0) == servicePort {
			held.Spec.Ports[i].NodePort = nodePort
		}
	}
}

// observeNodePort records the node port that the API server chose or the spec names, once it is had.
// One that somebody else gave the Service is none of these: the WebServer waits for its own.
func observeNodePort(ws *webserverv1.WebServer, children []*child) {
	service := children[1]
	if !service.ours(ws) {
		return
	}
	nodePort := nodePortOf(service.object.(*corev1.Service))
	if ws.Status.NodePort == 0 || nodePort == ws.Spec.NodePort {
		ws.Status.NodePort = cmp.Or(nodePort, ws.Status.NodePort)
	}
}

// nodePortOf is the node port of the port that this operator publishes; 0 when there is none.
func nodePortOf(service *corev1.Service) int32 {
	for _, port := range service.Spec.Ports {
		if port.Port == servicePort && port.Protocol == corev1.ProtocolTCP {
			return port.NodePort
		}
	}
	return 0
}
