package controller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
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

// isNodePortRefused reports whether a request failed because the API server does not give the Service its node port.
func isNodePortRefused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return strings.HasSuffix(cause.Field, ".nodePort") })
}

// isNodePortAskedFor reports whether a WebServer names the node port in its spec. One that is refused its own does not keep such
// a port: two that swap their ports would wait for each other for ever.
func isNodePortAskedFor(ctx context.Context, reader client.Reader, nodePort int32) (bool, error) {
	asking := &webserverv1.WebServerList{}
	err := reader.List(ctx, asking, client.MatchingFields{specNodePort: strconv.Itoa(int(nodePort))}, client.DisableReadYourWritesConsistency)
	return len(asking.Items) > 0, err
}
