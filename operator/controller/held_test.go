package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

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

func TestEachChildIsHeldForItself(t *testing.T) {
	var m memory
	owner, now := storedWebServer(), time.Now()
	deployment, service := &child{kind: "Deployment"}, &child{kind: "Service"}
	for _, child := range []*child{deployment, service} {
		if m.held(owner, child, now) != nil {
			t.Errorf("the %s is held before anything is asked", child.kind)
		}
		m.hold(owner, child, &blocker{child: child.kind, retryAfter: time.Second}, now)
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
