package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// TestANodePortThatTheAPIServerChoseIsNotWrittenToOwnIt: only one that somebody else moved is a drift.
func TestANodePortThatTheAPIServerChoseIsNotWrittenToOwnIt(t *testing.T) {
	settled := settledObjects(t)[2].(*corev1.Service)
	for name, test := range map[string]struct {
		actual, recorded int32
		upToDate         bool
	}{
		"it is recorded":           {31000, 31000, true},
		"it is not recorded yet":   {31000, 0, true},
		"somebody else moved it":   {32000, 31000, false},
		"somebody else removed it": {0, 31000, false},
	} {
		t.Run(name, func(t *testing.T) {
			ws := storedWebServer()
			ws.Status.NodePort = test.recorded
			child := webServers.children(webServers, ws).service
			object := child.object.(*corev1.Service)
			settled.DeepCopyInto(object)
			object.Spec.Ports[0].NodePort = test.actual
			object.Spec.Ports = append([]corev1.ServicePort{{Name: "theirs", Port: 443, Protocol: corev1.ProtocolTCP, NodePort: 32443}}, object.Spec.Ports...)
			if child.upToDate() != test.upToDate {
				t.Errorf("it is up to date: %t", !test.upToDate)
			}
			object.ManagedFields = nil
			if child.upToDate() {
				t.Error("it is up to date though nothing is owned")
			}
		})
	}
}

func TestOnlyANodePortThatTheSpecNamesAnewIsAnUpdate(t *testing.T) {
	for name, test := range map[string]struct {
		asked, recorded int32
		want            bool
	}{
		"it names none":                  {0, 31000, false},
		"it names the first":             {30080, 0, true},
		"it names another":               {30080, 31000, true},
		"it names the one that is there": {30080, 30080, false},
	} {
		ws := storedWebServer()
		ws.Spec.NodePort, ws.Status.NodePort = test.asked, test.recorded
		if webServers.children(webServers, ws).service.renumbered != test.want {
			t.Errorf("%s: it is an update: %t", name, !test.want)
		}
	}
}

func TestAServiceWithoutItsPortHasNoNodePort(t *testing.T) {
	if nodePort := nodePortOf(&corev1.Service{}); nodePort != 0 {
		t.Errorf("it has %d", nodePort)
	}
}

func TestANodePortIsYieldedToWhoAsksForIt(t *testing.T) {
	for name, test := range map[string]struct {
		held, asked, othersAsk int32
		want                   bool
	}{
		"two swap theirs":                {31000, 32000, 31000, true},
		"nobody asks for it":             {31000, 32000, 0, false},
		"others ask for another":         {31000, 32000, 32000, false},
		"it is the desired one":          {31000, 31000, 31000, false},
		"the Service has none":           {0, 32000, 0, false},
		"the API server is to choose it": {31000, 0, 31000, false},
	} {
		t.Run(name, func(t *testing.T) {
			ws, other := storedWebServer(), storedWebServer()
			other.Namespace, other.Spec.NodePort = "elsewhere", test.othersAsk
			ws.Spec.NodePort = test.asked
			service := webServers.children(webServers, ws).service
			object, desired := service.object.(*corev1.Service), service.desired.(*corev1ac.ServiceApplyConfiguration)
			object.Spec.Ports = []corev1.ServicePort{{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: test.held}}
			before := desired.Annotations[annotationHash]

			yields, err := service.yield(t.Context(), newFakeClient(t, ws, other))
			if err != nil || yields != test.want {
				t.Fatalf("it yields: %t, %v", yields, err)
			}
			if yields && (*desired.Spec.Type != corev1.ServiceTypeClusterIP || desired.Spec.Ports[0].NodePort != nil || desired.Annotations[annotationHash] == before) {
				t.Errorf("desired are %+v", desired)
			}
			if !yields && *desired.Spec.Type != corev1.ServiceTypeNodePort {
				t.Error("desired is no node port")
			}
		})
	}
}

func TestAFailedLookForWhoAsksForANodePortIsAnError(t *testing.T) {
	ws := storedWebServer()
	ws.Spec.NodePort = 32000
	service := webServers.children(webServers, ws).service
	service.object.(*corev1.Service).Spec.Ports = []corev1.ServicePort{{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: 31000}}
	unreadable := errors.New("no answer")
	failing := interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return unreadable
		},
	})
	if yields, err := service.yield(t.Context(), failing); yields || !errors.Is(err, unreadable) {
		t.Errorf("it yields: %t, %v", yields, err)
	}
}

func TestAServiceOfWhichNoPortIsOwnedIsNotAsDesired(t *testing.T) {
	for _, owned := range []*corev1ac.ServiceApplyConfiguration{corev1ac.Service("web-service", "default"), corev1ac.Service("web-service", "default").WithSpec(corev1ac.ServiceSpec())} {
		before := fmt.Sprint(fieldsOf(owned))
		if treatNodePortAsApplied(owned, new(int32(31000))); fmt.Sprint(fieldsOf(owned)) != before {
			t.Errorf("owned is %v", fieldsOf(owned))
		}
	}
}
