package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
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

// TestAServiceThatIsRefusedItsNodePortFallsBack: to the port that it has or had, unless another WebServer asks for that.
func TestAServiceThatIsRefusedItsNodePortFallsBack(t *testing.T) {
	const alone = "inside the cluster alone"
	for name, test := range map[string]struct {
		has, recorded, asked, othersAsk int32
		want                            []string
	}{
		"it keeps what it has":            {31000, 31000, 32000, 0, []string{"on node port 31000", alone}},
		"others ask for another":          {31000, 31000, 32000, 32000, []string{"on node port 31000", alone}},
		"two swap theirs":                 {31000, 31000, 32000, 31000, []string{alone}},
		"it is deleted":                   {0, 31000, 32000, 0, []string{"on node port 31000", alone}},
		"somebody else moved it":          {31500, 31000, 32000, 0, []string{"on node port 31000", "on node port 31500", alone}},
		"its own, and it was moved":       {31500, 31000, 0, 0, []string{"on node port 31500", alone}},
		"somebody asks for where it is":   {31500, 31000, 32000, 31500, []string{"on node port 31000", alone}},
		"it never had one":                {0, 0, 32000, 0, []string{alone}},
		"its own is taken":                {0, 31000, 0, 0, []string{alone}},
		"its own, which the spec names":   {0, 31000, 31000, 0, []string{alone}},
		"the API server has none to give": {0, 0, 0, 0, []string{alone}},
	} {
		t.Run(name, func(t *testing.T) {
			ws, other := storedWebServer(), storedWebServer()
			other.Namespace, other.Spec.NodePort = "elsewhere", test.othersAsk
			ws.Spec.NodePort, ws.Status.NodePort = test.asked, test.recorded
			service := webServers.children(webServers, ws).service
			service.object.(*corev1.Service).Spec.Ports = []corev1.ServicePort{{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: test.has}}

			fallbacks, err := service.fallbacks(t.Context(), newFakeClient(t, ws, other), refusedField(nodePortPath))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, fallback := range fallbacks {
				got = append(got, fallback.serves)
				spec := fallback.desired.(*corev1ac.ServiceApplyConfiguration).Spec
				if nodePort := spec.Ports[0].NodePort; *spec.Type == corev1.ServiceTypeClusterIP && nodePort != nil ||
					*spec.Type == corev1.ServiceTypeNodePort && fmt.Sprint("on node port ", *nodePort) != fallback.serves {
					t.Errorf("%s: desired is %v", fallback.serves, fieldsOf(spec))
				}
				if fallback.object != service.object {
					t.Errorf("%s: it is another object", fallback.serves)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("it falls back to %q, want %q", got, test.want)
			}
		})
	}
}

// TestOnlyARefusedNodePortIsAReasonToFallBack: of what else is refused, less of a Service would be no better.
func TestOnlyARefusedNodePortIsAReasonToFallBack(t *testing.T) {
	byPolicy := apierrors.NewInvalid(schema.GroupKind{}, "web-service", nil)
	byPolicy.ErrStatus.Details = nil
	for name, test := range map[string]struct {
		answered error
		want     bool
	}{
		"it is written":            {nil, false},
		"it is stale":              {apierrors.NewConflict(schema.GroupResource{}, "web-service", errors.New("changed")), false},
		"there is no answer":       {context.DeadlineExceeded, false},
		"a policy refuses it":      {byPolicy, false},
		"its selector is refused":  {refusedField(field.NewPath("spec", "selector")), false},
		"its node port is refused": {fmt.Errorf("apply: %w", refusedField(nodePortPath)), true},
		"it is behind another's":   {refusedField(field.NewPath("spec", "ports").Index(1).Child("nodePort")), true},
	} {
		ws := storedWebServer()
		ws.Spec.NodePort = 32000
		fallbacks, err := webServers.children(webServers, ws).service.fallbacks(t.Context(), newFakeClient(t), test.answered)
		if err != nil || (len(fallbacks) > 0) != test.want {
			t.Errorf("%s: it falls back to %d others, %v", name, len(fallbacks), err)
		}
	}
}

// TestAServiceServesWhereItCanWhileItsNodePortIsTaken has it be deleted, or its selector be changed, meanwhile. What serves
// instead is applied once, and no later than that is told of.
func TestAServiceServesWhereItCanWhileItsNodePortIsTaken(t *testing.T) {
	const had, wanted = 31000, 32000
	missing := func(t *testing.T, fake client.Client) { work["a missing child"](t, fake) }
	for name, test := range map[string]struct {
		had, taken int32
		meanwhile  func(*testing.T, client.Client)
		port       int32
		says       string
		applies    int // that are accepted
	}{
		"nothing else happens":        {had, wanted, nil, had, "on node port 31000", 0},
		"it is deleted":               {had, wanted, missing, had, "on node port 31000", 1},
		"it is deleted, and had none": {0, wanted, missing, 0, "inside the cluster alone", 1},
		"its selector is changed": {had, wanted, func(t *testing.T, fake client.Client) {
			editChild(t, fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "other"} })
		}, had, "on node port 31000", 1},
		"its own is taken": {wanted, wanted, missing, 0, "inside the cluster alone", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				if test.had != 0 {
					editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.NodePort = test.had })
					server.reconcileUntilIdle()
				}
				settled := server.stored(t.Context(), "Service", "web-service").(*corev1.Service)
				server.taken = test.taken
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.NodePort = wanted })
				if test.meanwhile != nil {
					test.meanwhile(t, server.fake)
				}
				before, reported := server.writes, len(server.statuses)
				for range 20 {
					result, _ := server.event()
					time.Sleep(result.RequeueAfter)
				}
				service := server.stored(t.Context(), "Service", "web-service").(*corev1.Service)
				if nodePortOf(service) != test.port || !maps.Equal(service.Spec.Selector, settled.Spec.Selector) {
					t.Errorf("the Service's node port is %d, its selector %v", nodePortOf(service), service.Spec.Selector)
				}
				degraded := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Degraded)
				if want := "provided port is already allocated; until then it serves " + test.says; !strings.HasSuffix(degraded.Message, want) {
					t.Errorf("told is %q", degraded.Message)
				}
				if slices.Contains(server.requests, "patch web-service") {
					t.Error("it is tried to replace what others set, who have no part in it")
				}
				if made := server.writes - before - len(server.statuses) + reported; made != test.applies {
					t.Errorf("%d applies were accepted", made)
				}

				server.taken = 0
				for range 3 {
					result, _ := server.event()
					time.Sleep(result.RequeueAfter)
				}
				if nodePort := nodePortOf(server.stored(t.Context(), "Service", "web-service").(*corev1.Service)); nodePort != wanted {
					t.Errorf("when the port is free, the Service has %d", nodePort)
				}
			})
		})
	}
}

func TestAFailedLookForWhoAsksForANodePortIsAnError(t *testing.T) {
	ws := storedWebServer()
	ws.Spec.NodePort, ws.Status.NodePort = 32000, 31000
	unreadable := errors.New("no answer")
	failing := interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return unreadable
		},
	})
	if _, err := webServers.children(webServers, ws).service.fallbacks(t.Context(), failing, refusedField(nodePortPath)); !errors.Is(err, unreadable) {
		t.Errorf("got %v", err)
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

var nodePortPath = field.NewPath("spec", "ports").Index(0).Child("nodePort")

// refusedField is how an API server refuses a field of a Service.
func refusedField(path *field.Path) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web-service", field.ErrorList{field.Invalid(path, 30080, "provided port is already allocated")})
}
