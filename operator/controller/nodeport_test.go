package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

func TestANodePortIsRecordedOnceAndMovesWithTheSpecAlone(t *testing.T) {
	const mine, others = types.UID("web-uid"), types.UID("another-uid")
	for name, test := range map[string]struct {
		owner                   types.UID // of the Service; empty: there is none
		actual, asked, recorded int32
		want                    int32
	}{
		"the API server chose it":              {mine, 31000, 0, 0, 31000},
		"it is recorded already":               {mine, 31000, 0, 31000, 31000},
		"somebody else moved it":               {mine, 32000, 0, 31000, 31000},
		"the spec names it":                    {mine, 30080, 30080, 31000, 30080},
		"the spec names one that it lacks yet": {mine, 31000, 30080, 31000, 31000},
		"the Service has none for a moment":    {mine, 0, 0, 31000, 31000},
		"there is no Service":                  {"", 31000, 0, 0, 0},
		"the Service is somebody else's":       {others, 31000, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ws := &webserverv1.WebServer{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: mine}, Spec: webserverv1.WebServerSpec{NodePort: test.asked}}
			ws.Status.NodePort = test.recorded
			children := webServers.children(webServers, ws)
			if test.owner != "" {
				service := children.service.object.(*corev1.Service)
				service.UID, service.Annotations = "service-uid", map[string]string{annotationOwner: string(test.owner)}
				service.Spec.Ports = []corev1.ServicePort{
					{Port: 443, Protocol: corev1.ProtocolTCP, NodePort: 32443}, {Port: servicePort, Protocol: corev1.ProtocolUDP, NodePort: 32080},
					{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: test.actual},
				}
			}
			if computeNodePort(ws, children); ws.Status.NodePort != test.want {
				t.Errorf("recorded is %d, want %d", ws.Status.NodePort, test.want)
			}
		})
	}
}
