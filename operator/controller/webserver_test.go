package controller

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestSetNodePort(t *testing.T) {
	const mine, others = types.UID("web-uid"), types.UID("another-uid")
	for name, test := range map[string]struct {
		owner                   types.UID // of the Service; empty if the Service does not exist
		actual, asked, recorded int32
		want                    int32
	}{
		"the API server allocated it":            {mine, 31000, 0, 0, 31000},
		"it is already recorded":                 {mine, 31000, 0, 31000, 31000},
		"another client changed it":              {mine, 32000, 0, 31000, 31000},
		"the spec sets it":                       {mine, 30080, 30080, 31000, 30080},
		"the spec sets another port":             {mine, 31000, 30080, 31000, 31000},
		"the Service has no node port":           {mine, 0, 0, 31000, 31000},
		"the Service has no such port":           {mine, 0, 0, 0, 0},
		"there is no Service":                    {"", 31000, 0, 0, 0},
		"another owner's Service has it":         {others, 31000, 0, 0, 0},
		"the spec sets it, and none is recorded": {mine, 30080, 30080, 0, 30080},
	} {
		ws := storedWebServer()
		ws.Spec.NodePort, ws.Status.NodePort = test.asked, test.recorded
		children := webServers.children(webServers, ws)
		if test.owner != "" {
			service := children[1].object.(*corev1.Service)
			service.UID, service.Annotations = "service-uid", map[string]string{annotationOwner: string(test.owner)}
			service.Spec.Ports = []corev1.ServicePort{
				{Port: 443, Protocol: corev1.ProtocolTCP, NodePort: 32443}, {Port: servicePort, Protocol: corev1.ProtocolUDP, NodePort: 32080},
				{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: test.actual},
			}
			if name == "the Service has no such port" {
				service.Spec.Ports = service.Spec.Ports[:2]
			}
		}
		if setNodePort(ws, children); ws.Status.NodePort != test.want {
			t.Errorf("%s: got %d, want %d", name, ws.Status.NodePort, test.want)
		}
	}
}

// The operator does not own a node port that the API server allocated. The port must not count as a difference.
func TestAllocatedNodePortIsAsDesired(t *testing.T) {
	for name, test := range map[string]struct {
		actual, recorded int32
		want             bool
	}{
		"recorded":                  {31000, 31000, true},
		"not recorded yet":          {31000, 0, true},
		"changed by another client": {32000, 31000, false},
		"removed by another client": {0, 31000, false},
		"without an owned port":     {31000, 31000, false},
		"with a duplicate port":     {31000, 31000, false},
	} {
		ws := storedWebServer()
		fake := newFakeClient(t, ws)
		reconcileOnce(t, newFakeReconciler(webServers, fake), ws)
		ws.Status.NodePort = test.recorded
		c := webServers.children(webServers, ws)[1]
		c.state = (&states{}).of(ws).child(c)
		service := c.object.(*corev1.Service)
		noError(t, fake.Get(t.Context(), client.ObjectKeyFromObject(service), service))
		service.UID, service.Spec.Ports[0].NodePort = "service-uid", test.actual
		switch fields := service.ManagedFields[0].FieldsV1; name {
		case "without an owned port":
			fields.SetRawString(strings.Replace(fields.GetRawString(), "f:ports", "f:other", 1))
		case "with a duplicate port": // the fields cannot be read
			service.Spec.Ports = slices.Repeat(service.Spec.Ports, 2)
		}
		if _, err := c.extract(service); c.asDesired(ws) != test.want || (err != nil) != (name == "with a duplicate port") {
			t.Errorf("%s: got as desired: %t, error %v, want %t, and an error only for a duplicate port", name, c.asDesired(ws), err, test.want)
		}
	}
}
