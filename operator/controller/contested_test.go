package controller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAFieldThatIsContestedIsRepairedSeldomAndReported has an autoscaler scale a WebServer's Deployment again as
// soon as that is repaired, and then leave it.
func TestAFieldThatIsContestedIsRepairedSeldomAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		scale := func() { server.scale(7) }
		repaired := func() bool {
			return *server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment).Spec.Replicas == 0
		}
		reported := func() string {
			degraded := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Degraded)
			return degraded.Reason + ": " + degraded.Message
		}
		for i := range repairBurst {
			scale()
			if server.event(); !repaired() {
				t.Fatalf("change %d is not repaired", i+1)
			}
		}

		scale()
		if result, _ := server.event(); repaired() || result.RequeueAfter != repairInterval {
			t.Errorf("it is repaired without end, and comes again after %s", result.RequeueAfter)
		}
		const contested = "Contested: autoscaler keeps changing spec.replicas of the Deployment"
		if !strings.HasPrefix(reported(), contested) {
			t.Errorf("reported is %s", reported())
		}
		begin := time.Now()
		for range 3 {
			time.Sleep(10 * time.Second)
			if server.event(); repaired() {
				t.Error("it is repaired at full speed")
			}
			for range 20 {
				if result, _ := server.event(); !repaired() {
					time.Sleep(result.RequeueAfter)
				}
			}
			if server.event(); !strings.HasPrefix(reported(), contested) {
				t.Errorf("as soon as it is repaired, reported is %s", reported())
			}
			scale()
			server.event()
		}
		if took := time.Since(begin); took < 3*repairInterval || took > 3*repairInterval+4*time.Second {
			t.Errorf("it is repaired three times in %s", took)
		}
		for range 20 {
			if result, _ := server.event(); reported() != "AsExpected: nothing needs attention" {
				time.Sleep(result.RequeueAfter)
			}
		}
		if took := time.Since(begin); took > 5*repairInterval+4*time.Second || reported() != "AsExpected: nothing needs attention" {
			t.Errorf("that nobody changes it any more is reported %s later: %s", took, reported())
		}
		var told []string
		for _, note := range server.notes {
			if !strings.HasPrefix(note, "Normal Repaired") {
				told = append(told, note)
			}
		}
		if len(told) != 2 || !strings.HasPrefix(told[0], "Warning Contested") || !strings.HasPrefix(told[1], "Normal Recovered") {
			t.Errorf("told is %q", told)
		}
	})
}

// scale has an autoscaler set another number of Pods.
func (s *fakeServer) scale(pods int32) {
	editChild(s.T, client.WithFieldOwner(s.fake, "autoscaler"), &appsv1.Deployment{}, "web", func(d *appsv1.Deployment) { d.Spec.Replicas = &pods })
}

// contest has the autoscaler undo one repair too many.
func (s *fakeServer) contest() {
	for range repairBurst + 1 {
		s.scale(7)
		s.event()
	}
}

// TestAContestThatMayEndWhileItIsLookedAtIsLookedAtAgain has the next repair be allowed while the API server answers who contests it.
func TestAContestThatMayEndWhileItIsLookedAtIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		for range repairBurst {
			server.scale(7)
			server.event()
		}
		time.Sleep(repairInterval - 3*time.Millisecond)
		server.apiReader = interceptor.NewClient(server.fake, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				time.Sleep(baseDelay)
				return c.Get(ctx, key, object, options...)
			},
		})
		server.scale(7)
		if result, _ := server.event(); result.RequeueAfter != baseDelay || server.reported(workload.Degraded) != workload.ReasonContested {
			t.Errorf("again after %s, reported is %s", result.RequeueAfter, server.reported(workload.Degraded))
		}
	})
}

// TestARolloutGoesOnWhileAFieldIsContested: what was contested is as desired, for now, and another field is rolled out.
func TestARolloutGoesOnWhileAFieldIsContested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.contest()
		if reason := server.reported(workload.Progressing); reason != workload.ReasonBlocked {
			t.Fatalf("while it is contested, reported is %s", reason)
		}
		editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "nginx:1.99" })
		next := server.stored(t.Context(), "Deployment", "web").GetGeneration() + 1
		server.event()
		reportDeployment(t, server.fake, next, appsv1.DeploymentStatus{ObservedGeneration: next, Replicas: 2, UpdatedReplicas: 1})
		server.event()
		time.Sleep(time.Second)
		server.event()
		if progressing, degraded := server.reported(workload.Progressing), server.reported(workload.Degraded); progressing != workload.ReasonRollingOut || degraded != workload.ReasonContested {
			t.Errorf("reported are %s and %s", progressing, degraded)
		}
	})
}

// TestAContestHasNoOtherErrorBeRemembered: a later one would be taken for one that lasts.
func TestAContestHasNoOtherErrorBeRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.contest()
		memory := server.memories.of(storedWebServer())
		memory.failingFor(unread("Deployment", &appsv1.Deployment{}), time.Now())
		time.Sleep(repairInterval)
		server.event()
		server.event()
		if memory.failingSince != nil || memory.holds != nil || server.reported(workload.Degraded) != workload.ReasonContested {
			t.Errorf("it fails since %s; held is %v", memory.failingSince, memory.holds)
		}
	})
}

// TestContestsAreToldInAnOrder: one that is changed now keeps its child from being as desired, and the others do not.
func TestContestsAreToldInAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory{repairs: map[string]*repairs{}}
		for _, fields := range []string{"a", "b", "c", "d", "e", "over"} {
			exhausted := &repairs{Limiter: rate.NewLimiter(rate.Every(repairInterval), repairBurst), contested: &blocker{child: "Service", message: fields}, undone: fields == "c"}
			exhausted.AllowN(time.Now(), repairBurst)
			m.repairs[fields] = exhausted
		}
		m.repairs["over"].Limiter = rate.NewLimiter(rate.Every(repairInterval), repairBurst)
		for i, told := range m.contested() {
			want := blocker{message: string(rune('a' + i)), retryAfter: repairInterval}
			if want.message == "c" {
				want.child = "Service"
			}
			if *told != want {
				t.Errorf("told is %+v, want %+v", *told, want)
			}
		}
		if told := len(m.contested()); told != 5 {
			t.Errorf("%d are told", told)
		}
	})
}

// TestAServiceThatIsMadeHeadlessAgainAndAgainIsDeletedSeldom: only another Service repairs it, and each is a new cluster IP.
func TestAServiceThatIsMadeHeadlessAgainAndAgainIsDeletedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		for range 2 * repairBurst {
			editChild(t, client.WithFieldOwner(server.fake, "mesh"), &corev1.Service{}, "web-service", func(s *corev1.Service) {
				s.Spec.ClusterIP, s.Spec.Type = corev1.ClusterIPNone, corev1.ServiceTypeClusterIP
			})
			server.event()
			server.event()
		}
		if deleted := len(slices.DeleteFunc(server.requests, func(request string) bool { return request != "delete web-service" })); deleted != repairBurst {
			t.Errorf("it is deleted %d times", deleted)
		}
		degraded := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Degraded)
		if want := "mesh keeps changing spec.clusterIP, spec.type of the Service"; !strings.HasPrefix(degraded.Message, want) {
			t.Errorf("reported is %s: %s", degraded.Reason, degraded.Message)
		}
	})
}

func TestOnlyOthersWhoOwnTheFieldAreNamed(t *testing.T) {
	owns := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const replicas, image = `{"f:spec":{"f:replicas":{}}}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}}}}`
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		owns("without-fields", `{}`), {Manager: "unknown"}, owns("broken", `{`),
		owns("upgrader", image), owns("autoscaler", replicas), owns("both", `{"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{},"f:selector":{}}}`),
		owns("autoscaler", replicas), owns(Name, replicas), owns("another", `{"f:spec":{"f:paused":{}}}`),
		owns("kubectl-set", `{"f:spec":{"f:selector":{}}}`),
		owns("kubectl-label", `{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{".":{},"f:strategy":{".":{},"f:type":{}}}}`),
		owns("kubectl-annotate", `{"f:metadata":{"f:annotations":{".":{},"f:app":{}}}}`),
	}}}
	for path, want := range map[string][]string{
		"spec.replicas":                          {"autoscaler", "both"},
		"spec.template.spec.containers[0].image": {"upgrader"},
		"spec.strategy.rollingUpdate":            nil,
		"spec.selector.app.kubernetes.io/name":   {"both", "kubectl-set"}, // of a structure that is owned as a whole
		"spec.selectors":                         nil,
		"metadata.labels.app":                    {"kubectl-label"},
		"metadata.labels.app.kubernetes.io/name": nil,
		"metadata.annotations.app.example":       nil,
	} {
		if got := managersOf(object, []string{"spec.minReadySeconds", path}); !slices.Equal(got, want) {
			t.Errorf("%s is owned by %q, want %q", path, got, want)
		}
	}
}

func TestRepairsAreCountedForTheFieldsOfAChildOfAResource(t *testing.T) {
	drifted := func(kind string, owned map[string]any) *child {
		return &child{kind: kind, desired: webServers.children(webServers, storedWebServer()).service.desired,
			extract: func() (any, error) { return &unstructured.Unstructured{Object: owned}, nil }}
	}
	ports := map[string]any{"spec": map[string]any{"type": "ClusterIP"}}
	var m, other memory
	first := m.repairsOf(drifted("Service", ports))
	if m.repairsOf(drifted("Service", ports)) != first {
		t.Error("the same fields are counted anew")
	}
	for what, another := range map[string]*repairs{
		"another resource's child": other.repairsOf(drifted("Service", ports)),
		"another child":            m.repairsOf(drifted("Deployment", ports)),
		"other fields":             m.repairsOf(drifted("Service", map[string]any{"spec": map[string]any{"type": "NodePort"}})),
	} {
		if another == first {
			t.Errorf("%s is counted together with the first", what)
		}
	}
}
