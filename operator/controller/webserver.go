package controller

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	watchOwn:         func(b *builder.Builder) { b.Watches(&corev1.Service{}, enqueueByName(serviceSuffix)) },
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
			if nodePort := desired.Spec.Ports[0].NodePort; err == nil && nodePort != nil && *nodePort == nodePortOf(object) {
				treatNodePortAsApplied(owned, nodePort)
			}
			return owned, err
		},
		yield: func(ctx context.Context, reader client.Reader) (bool, error) {
			return yieldNodePort(ctx, reader, object, desired)
		},
		// A headless Service never gets a cluster IP.
		unrepairable: func() bool { return object.Spec.ClusterIP == corev1.ClusterIPNone },
	}
}
