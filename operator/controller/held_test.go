package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAnEventDoesNotHaveASlowWebhookAskedEarlier has a webhook hold the write of a Service: what happens meanwhile is reported,
// and takes no worker for another five seconds. A new spec may be what the webhook takes.
func TestAnEventDoesNotHaveASlowWebhookAskedEarlier(t *testing.T) {
	for name, held := range map[string]string{"of a Service that is to be made": "a missing child", "of one that is to be updated": "a node port"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[held](t, server.fake)
				server.failing, server.failure = "apply web-service", context.DeadlineExceeded
				begin := time.Now()
				if result, requests := server.event(); result.RequeueAfter != debounceQuiet || !slices.Contains(requests, "apply web-service") {
					t.Fatalf("again after %s, and requested is %q", result.RequeueAfter, requests)
				}
				time.Sleep(debounceQuiet)
				_, requests := server.event() // the status can wait no longer
				if want := []string{"get web", "get web", "get web-service", "list *v1.ReplicaSetList", "update status"}; !slices.Equal(requests, want) {
					t.Errorf("at once requested is %q, want %q", requests, want)
				}
				if reason := server.reported(workload.Progressing); reason != workload.ReasonRetrying {
					t.Errorf("reported is %s", reason)
				}
				if result, _ := server.event(); result.RequeueAfter != childWriteTimeout-time.Since(begin) {
					t.Errorf("after %s it comes again after %s", time.Since(begin), result.RequeueAfter)
				}
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Replicas = ptr.To[int32](3) })
				if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
					t.Errorf("it is not asked about a new spec: %q", requests)
				}
				time.Sleep(childWriteTimeout)
				if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
					t.Errorf("it is never asked again: %q", requests)
				}
			})
		})
	}
}

// TestARefusedChildIsTriedEverMoreSeldomWhateverHappens has the API server refuse a Service, and something happen all the time:
// the status tells of it, but none of it is a reason to ask again. A new spec is, and a success begins anew.
func TestARefusedChildIsTriedEverMoreSeldomWhateverHappens(t *testing.T) {
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web-service", errors.New("exceeded quota"))
	for name, refused := range map[string]string{"that is to be made": "a missing child", "that is to be updated": "a node port"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[refused](t, server.fake)
				server.failing, server.failure = "apply web-service", refusal
				backsOff := func(until time.Duration) {
					t.Helper()
					for want := baseDelay; ; want = min(2*want, maxDelay) {
						if result, requests := server.event(); result.RequeueAfter != want || !slices.Contains(requests, "apply web-service") {
							t.Fatalf("again after %s, want %s; requested is %q", result.RequeueAfter, want, requests)
						}
						if want == until {
							return
						}
						time.Sleep(want / 2)
						if result, requests := server.event(); result.RequeueAfter != want-want/2 || slices.ContainsFunc(requests, isWrite) || len(requests) != 4 {
							t.Fatalf("half of %s later again after %s; requested is %q", want, result.RequeueAfter, requests)
						}
						time.Sleep(want - want/2)
					}
				}
				backsOff(maxDelay)
				if want := `"msg"="Not as desired" "child"="Service" "childName"="web-service" "why"="services \"web-service\" is forbidden: exceeded quota" "retryAfter"="5ms"`; !strings.Contains(strings.Join(server.logged, "\n"), want) {
					t.Errorf("logged is %q", server.logged)
				}
				time.Sleep(maxDelay)
				if result, _ := server.event(); result.RequeueAfter != maxDelay {
					t.Errorf("a quota that is raised is noticed after %s", result.RequeueAfter)
				}
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.NodePort = 30998 })
				backsOff(8 * baseDelay)

				server.failing = ""
				time.Sleep(8 * baseDelay)
				if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
					t.Fatalf("it is never tried again: %q", requests)
				}
				server.failing = "apply web-service"
				editChild(t, server.fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
				backsOff(2 * baseDelay)
			})
		})
	}
}

// TestANamespaceThatIsDeletedIsLeftInPeace has somebody's finalizer keep a WebServer whose Deployment is gone: each status that
// the operator stores is an event.
func TestANamespaceThatIsDeletedIsLeftInPeace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminating := apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("the namespace is going"))
		terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		settled := completeObjects(t)
		settled[0].SetFinalizers([]string{"example.com/backup"})
		server := newFakeServer(t, settled...)
		if err := errors.Join(server.fake.Delete(t.Context(), settled[0]), server.fake.Delete(t.Context(), settled[1])); err != nil {
			t.Fatal(err)
		}
		server.failing, server.failure = "apply web", terminating
		var told []string
		for begin := time.Now(); time.Since(begin) < 4*maxDelay; {
			before := server.reported(workload.Progressing)
			result, _ := server.event()
			if reported := server.reported(workload.Progressing); reported != before {
				told = append(told, reported)
				continue // which the watch brings
			}
			if result.IsZero() {
				t.Fatal("it rests on a watch of namespaces, which there is not")
			}
			time.Sleep(result.RequeueAfter)
		}
		if want := []string{workload.ReasonRollingOut, workload.ReasonWaitingForDeletion}; !slices.Equal(told, want) {
			t.Errorf("told is %q, want %q", told, want)
		}
		if writes := slices.DeleteFunc(server.requests, func(request string) bool { return request != "apply web" }); len(writes) != 4 {
			t.Errorf("tried %d times", len(writes))
		}
	})
}

// TestADeploymentThatLostItsLabelIsNotForgottenWhileItIsRefused: the cache does not show it, but its Pods run.
func TestADeploymentThatLostItsLabelIsNotForgottenWhileItIsRefused(t *testing.T) {
	ws := storedWebServer()
	ws.Status.ObservedGeneration = 1
	unlabelled := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "deployment-uid", Annotations: map[string]string{annotationOwner: "web-uid"}}}
	r := newFakeReconciler(newFakeClient(t))
	r.apiReader = newFakeClient(t, unlabelled)
	refused := r.children(r.resourceKind, ws).deployment
	if needed, blocker := r.needsWrite(t.Context(), ws, refused); !needed || blocker != nil {
		t.Fatalf("needed: %t, %+v", needed, blocker)
	}
	held := &blocker{child: "Deployment", reason: workload.ReasonRejected, retryAfter: time.Minute}
	r.memories.of(ws).hold(ws, refused, held, time.Now())

	again := r.children(r.resourceKind, ws).deployment
	needed, blocker := r.needsWrite(t.Context(), ws, again)
	if needed || blocker == nil || blocker.reason != held.reason || !again.exists() {
		t.Errorf("needed: %t, %+v, there is one: %t", needed, blocker, again.exists())
	}
}

// TestARefusalInOtherNumbersIsNoNews: one that names another port each time is no reason to write the status, unless it answers
// another spec.
func TestARefusalInOtherNumbersIsNoNews(t *testing.T) {
	const before, after = "no answer from port 40001", "no answer from port 40002"
	for name, test := range map[string]struct {
		generation      int64
		reason, message string
		want            string
	}{
		"another number":  {1, workload.ReasonRejected, after, before},
		"other words":     {1, workload.ReasonRejected, "denied", "denied"},
		"another reason":  {1, workload.ReasonContested, after, after},
		"another spec":    {2, workload.ReasonRejected, after, after},
		"the same number": {1, workload.ReasonRejected, before, before},
	} {
		t.Run(name, func(t *testing.T) {
			var m memory
			owner, refused := storedWebServer(), unread("Service", &corev1.Service{})
			owner.Generation = 1
			m.hold(owner, refused, &blocker{reason: workload.ReasonRejected, message: before}, time.Now())
			owner.Generation = test.generation
			is := &blocker{reason: test.reason, message: test.message}
			if m.hold(owner, refused, is, time.Now()); is.message != test.want {
				t.Errorf("it says %q, want %q", is.message, test.want)
			}
		})
	}
}

// event has the WebServer reconciled, and returns what was requested for that.
func (s *fakeServer) event() (ctrl.Result, []string) {
	s.Helper()
	before := len(s.requests)
	result, err := s.reconcile()
	if err != nil {
		s.Error(err)
	}
	return result, s.requests[before:]
}

// unread is a child of which nothing is known.
func unread(kind string, object client.Object) *child {
	return &child{kind: kind, object: object, extract: func() (any, error) { return nil, errors.New("it has no fields") }}
}

// TestAHoldIsForWhatWasRefused has somebody delete a Service whose update is refused, the usual remedy, or change another field.
func TestAHoldIsForWhatWasRefused(t *testing.T) {
	for name, remedy := range map[string]func(*testing.T, client.WithWatch){
		"it is deleted": func(t *testing.T, fake client.WithWatch) {
			if err := fake.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}}); err != nil {
				t.Fatal(err)
			}
		},
		"another field is changed": func(t *testing.T, fake client.WithWatch) {
			editChild(t, fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "other"} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				editChild(t, server.fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
				server.failing, server.failure = "apply web-service", apierrors.NewForbidden(schema.GroupResource{}, "web-service", errors.New("denied"))
				for range 12 {
					result, _ := server.event()
					time.Sleep(result.RequeueAfter)
				}
				server.event()
				if _, requests := server.event(); slices.Contains(requests, "apply web-service") {
					t.Fatalf("it is not held: %q", requests)
				}
				remedy(t, server.fake)
				if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
					t.Errorf("it is held: %q", requests)
				}
			})
		})
	}
}

// TestTheCacheIsBehindWhileItShowsAnOlderVersion: of another child, or of what was refused, it shows all there is.
func TestTheCacheIsBehindWhileItShowsAnOlderVersion(t *testing.T) {
	for name, test := range map[string]struct {
		written, shows string
		another        bool
		want           bool
	}{
		"an older version":       {written: "20", shows: "19", want: true},
		"the very version":       {written: "20", shows: "20"},
		"a newer version":        {written: "20", shows: "21"},
		"another of the name":    {written: "20", shows: "19", another: true},
		"what was never written": {shows: "19"},
	} {
		t.Run(name, func(t *testing.T) {
			var m memory
			owner, child := storedWebServer(), unread("Service", strangers())
			if m.isBehind(child) {
				t.Error("before anything is written")
			}
			m.hold(owner, child, &blocker{written: test.written, retryAfter: time.Minute}, time.Now())
			child.object.SetResourceVersion(test.shows)
			if test.another {
				child.object.SetUID("another")
			}
			if got := m.isBehind(child); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestAHoldEndsWithoutAWrite has the user revert what could not be repaired. What is refused later begins anew.
func TestAHoldEndsWithoutAWrite(t *testing.T) {
	for _, foreign := range []bool{false, true} { // another child is in the way all the time
		synctest.Test(t, func(t *testing.T) {
			objects := settledObjects(t)
			server := newFakeServer(t, objects...)
			ws := getWebServer(t, server.fake)
			children, err := server.readChildren(t.Context(), ws)
			if err != nil {
				t.Fatal(err)
			}
			if foreign {
				children.service.object.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Other", UID: "other", Controller: new(true)}})
				children.service.object.SetAnnotations(nil)
			}
			memory := server.memories.of(ws)
			memory.hold(ws, children.deployment, &blocker{reason: workload.ReasonRejected, needsUser: true}, time.Now())
			memory.failingFor(children.deployment, time.Now())
			_, _ = server.ensureChildren(t.Context(), ws, children)
			if since, failing := memory.failingSince["Deployment"]; failing {
				t.Errorf("another child is in the way: %t; it fails since %s", foreign, since)
			}
			if hold, held := memory.holds["Deployment"]; held {
				t.Errorf("another child is in the way: %t; held is %v", foreign, hold)
			}
		})
	}
}

func TestEachChildIsHeldForItself(t *testing.T) {
	var m memory
	owner, now := storedWebServer(), time.Now()
	deployment, service := unread("Deployment", &appsv1.Deployment{}), unread("Service", &corev1.Service{})
	for _, child := range []*child{deployment, service} {
		if m.held(owner, child, now) != nil {
			t.Errorf("the %s is held before anything is asked", child.kind)
		}
		m.hold(owner, child, &blocker{child: child.kind, retryAfter: time.Second}, now)
	}
	m.failingFor(deployment, now.Add(-time.Hour))
	if failing := m.failingFor(service, now); failing != 0 {
		t.Errorf("the Service fails for %s", failing)
	}
	if failing := m.failingFor(deployment, now); failing != time.Hour {
		t.Errorf("the Deployment fails for %s", failing)
	}
	for _, child := range []*child{deployment, service} {
		if blocker := m.held(owner, child, now); blocker == nil || blocker.child != child.kind {
			t.Errorf("the %s is held by %+v", child.kind, blocker)
		}
		if m.held(owner, child, now.Add(time.Second)) != nil {
			t.Errorf("the %s is held for ever", child.kind)
		}
	}
}

// TestASuccessorIsNotHeldForItsPredecessor has a resource be replaced under its name while a webhook is not to be asked about its
// Service: the other one was never refused, and must not wait or be reported as if it had been.
func TestASuccessorIsNotHeldForItsPredecessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		work["a missing child"](t, server.fake)
		server.failing, server.failure = "apply web-service", context.DeadlineExceeded
		if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
			t.Fatalf("requested is %q", requests)
		}
		predecessor, deployment := getWebServer(t, server.fake), server.stored(t.Context(), "Deployment", "web")
		successor := storedWebServer()
		successor.UID = "another-uid"
		if err := errors.Join(server.fake.Delete(t.Context(), predecessor), server.fake.Delete(t.Context(), deployment), server.fake.Create(t.Context(), successor)); err != nil {
			t.Fatal(err)
		}
		server.failing = ""
		if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
			t.Errorf("the Service of another resource is held: %q", requests)
		}
		if reason := server.reported(workload.Progressing); reason == workload.ReasonRetrying {
			t.Error("what another resource waited for is reported")
		}
	})
}

// TestASuccessorIsRememberedFromTheFirst: what it waits for must not be forgotten by its next reconcile.
func TestASuccessorIsRememberedFromTheFirst(t *testing.T) {
	var all memories
	predecessor, successor := storedWebServer(), storedWebServer()
	successor.UID = "another-uid"
	old := all.of(predecessor)
	if remembered := all.of(successor); remembered == old || all.of(successor) != remembered {
		t.Error("each reconcile remembers something else")
	}
}
