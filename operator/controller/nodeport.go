package controller

import (
	"cmp"
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// treatNodePortAsApplied counts a node port that is as desired as owned, so that no write is made only to own
// what the API server chose. If more ports are owned than the one, the Service is not as desired anyway.
func treatNodePortAsApplied(owned *corev1ac.ServiceApplyConfiguration, nodePort *int32) {
	if owned.Spec != nil && len(owned.Spec.Ports) > 0 {
		owned.Spec.Ports[0].NodePort = nodePort
	}
}

// computeNodePort records the node port that the API server chose or that the spec names, once the Service has it.
// One that somebody else gave the Service is neither: it is repaired.
func computeNodePort(ws *webserverv1.WebServer, children children) {
	if !children.service.isControlledBy(ws) {
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

// yieldNodePort reports whether the Service has a node port that is not the desired one and that another WebServer asks
// for. It then desires none: two that swap their ports would wait for each other for ever. Inside the cluster the
// Service serves on.
func yieldNodePort(ctx context.Context, reader client.Reader, service *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) (bool, error) {
	held, port := nodePortOf(service), &desired.Spec.Ports[0]
	if held == ptr.Deref(port.NodePort, held) {
		return false, nil
	}
	waiting := &webserverv1.WebServerList{}
	err := reader.List(ctx, waiting, client.MatchingFields{specNodePort: strconv.Itoa(int(held))}, client.DisableReadYourWritesConsistency)
	if len(waiting.Items) == 0 {
		return false, err
	}
	port.NodePort = nil
	desired.Spec.WithType(corev1.ServiceTypeClusterIP)
	desired.WithAnnotations(map[string]string{annotationHash: hashOf(desired.Spec)})
	return true, nil
}
