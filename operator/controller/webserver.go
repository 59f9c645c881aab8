package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: ws.Name + serviceSuffix, Namespace: ws.Namespace}}
	nodePort := cmp.Or(ws.Spec.NodePort, ws.Status.NodePort)
	service := serviceOn(k, ws, object, corev1.ServiceTypeNodePort, nodePort)
	service.renumbered = ws.Spec.NodePort != 0 && ws.Spec.NodePort != ws.Status.NodePort
	service.fallbacks = func(ctx context.Context, reader client.Reader, refused error) ([]*child, error) {
		if !isNodePortRefused(refused) {
			return nil, nil
		}
		var fallbacks []*child
		for _, port := range slices.Compact([]int32{ws.Status.NodePort, nodePortOf(object)}) {
			if port == 0 || port == nodePort {
				continue
			}
			if asked, err := isNodePortAskedFor(ctx, reader, port); err != nil {
				return nil, err
			} else if !asked {
				external := serviceOn(k, ws, object, corev1.ServiceTypeNodePort, port)
				external.serves = fmt.Sprint("on node port ", port)
				fallbacks = append(fallbacks, external)
			}
		}
		internal := serviceOn(k, ws, object, corev1.ServiceTypeClusterIP, 0)
		internal.serves = "inside the cluster alone"
		return append(fallbacks, internal), nil
	}
	return service
}

// serviceOn is the child that publishes a WebServer by a Service of a type. A node port of 0 is for the API server to allocate.
func serviceOn(k resourceKind[*webserverv1.WebServer], ws *webserverv1.WebServer, object *corev1.Service, serviceType corev1.ServiceType, nodePort int32) *child {
	port := corev1ac.ServicePort().
		WithName(servicePortName).
		WithProtocol(corev1.ProtocolTCP).
		WithPort(servicePort).
		WithTargetPort(intstr.FromString(portName))
	desired := corev1ac.Service(object.Name, ws.Namespace)
	desired.ObjectMetaApplyConfiguration = k.metadata(ws, object.Name)
	desired.WithSpec(corev1ac.ServiceSpec().
		WithType(serviceType).
		WithSelector(k.selector(ws)))
	hash := hashOf([]any{desired.Spec.WithPorts(port), ws.Spec.NodePort != 0}) // a recorded node port is no other spec
	if nodePort != 0 {
		desired.Spec.Ports[0].WithNodePort(nodePort)
	}
	desired.WithAnnotations(map[string]string{annotationHash: hash})
	return &child{
		kind:    "Service",
		object:  object,
		spec:    &object.Spec,
		desired: desired,
		hash:    hash,
		extract: func() (any, error) {
			owned, err := corev1ac.ExtractService(object, Name)
			if nodePort := desired.Spec.Ports[0].NodePort; err == nil && nodePort != nil && *nodePort == nodePortOf(object) {
				treatNodePortAsApplied(owned, nodePort)
			}
			return owned, err
		},
	}
}
