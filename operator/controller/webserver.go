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

// +kubebuilder:rbac:groups=my.domain,resources=webservers,verbs=list;watch
// +kubebuilder:rbac:groups=my.domain,resources=webservers/status,verbs=update
// +kubebuilder:rbac:groups=my.domain,resources=webservers/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete

// What a WebServer's Service serves on inside the cluster.
const (
	servicePort     = 80
	servicePortName = "http"
)

// webServers is the kind WebServer: a Deployment NAME of its image, and a Service NAME-service that
// publishes it on a node port.
var webServers = resourceKind[*webserverv1.WebServer]{
	GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
	newObject:        func() *webserverv1.WebServer { return &webserverv1.WebServer{} },
	replicas:         func(ws *webserverv1.WebServer) int32 { return ptr.Deref(ws.Spec.Replicas, 1) },
	children:         webServerChildren,
	computeOwnStatus: computeNodePort,
}

func addWebServers(manager ctrl.Manager) error {
	return setup(manager, webServers, func(b *builder.Builder) {
		b.Watches(&corev1.Service{}, enqueueByName(serviceSuffix))
	})
}

func webServerChildren(k resourceKind[*webserverv1.WebServer], ws *webserverv1.WebServer) children {
	pod := corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(serverContainer("webserver", string(ws.Spec.Image), ws.Spec.Port).
			WithSecurityContext(corev1ac.SecurityContext().WithAllowPrivilegeEscalation(false)))
	return children{deployment: k.deployment(ws, pod), service: webServerService(k, ws)}
}

// serviceSuffix makes a WebServer's name its Service's.
const serviceSuffix = "-service"

// webServerService is the child that publishes a WebServer. Its node port is the spec's or else the
// one that the WebServer had before; without either, the API server allocates one.
func webServerService(k resourceKind[*webserverv1.WebServer], ws *webserverv1.WebServer) *child {
	name := ws.Name + serviceSuffix
	port := corev1ac.ServicePort().
		WithName(servicePortName).
		WithProtocol(corev1.ProtocolTCP).
		WithPort(servicePort).
		WithTargetPort(intstr.FromString(portName))
	desired := corev1ac.Service(name, ws.Namespace)
	desired.ObjectMetaApplyConfiguration = k.metadata(ws, name)
	desired.WithSpec(corev1ac.ServiceSpec().
		WithType(corev1.ServiceTypeNodePort).
		WithSelector(k.selector(ws)))
	hash := hashOf([]any{desired.Spec.WithPorts(port), ws.Spec.NodePort != 0}) // a recorded node port is no other spec
	if nodePort := cmp.Or(ws.Spec.NodePort, ws.Status.NodePort); nodePort != 0 {
		desired.Spec.Ports[0].WithNodePort(nodePort)
	}
	desired.WithAnnotations(map[string]string{annotationHash: hash})

	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ws.Namespace}}
	return &child{
		kind:       "Service",
		object:     object,
		spec:       &object.Spec,
		desired:    desired,
		hash:       hash,
		renumbered: ws.Spec.NodePort != 0 && ws.Spec.NodePort != ws.Status.NodePort,
		extract: func() (any, error) {
			owned, err := corev1ac.ExtractService(object, Name)
			if err == nil && nodePortOf(object) == ptr.Deref(desired.Spec.Ports[0].NodePort, 0) {
				treatNodePortAsApplied(owned, desired.Spec.Ports[0].NodePort)
			}
			return owned, err
		},
		// A headless Service never gets a cluster IP.
		unrepairable: func() bool { return object.Spec.ClusterIP == corev1.ClusterIPNone },
	}
}

// treatNodePortAsApplied counts a node port that is as desired as owned, so that no write is made only to own
// what the API server chose.
func treatNodePortAsApplied(owned *corev1ac.ServiceApplyConfiguration, nodePort *int32) {
	if owned.Spec == nil {
		return
	}
	for i := range owned.Spec.Ports {
		if ptr.Deref(owned.Spec.Ports[i].Port, 0) == servicePort {
			owned.Spec.Ports[i].NodePort = nodePort
		}
	}
}

// computeNodePort records the node port that the API server chose or that the spec names, once the Service has it.
// One that somebody else gave the Service is neither: it is repaired.
func computeNodePort(ws *webserverv1.WebServer, children children) {
	if !children.service.exists() || !children.service.isControlledBy(ws) {
		return
	}
	nodePort := nodePortOf(children.service.object.(*corev1.Service))
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
