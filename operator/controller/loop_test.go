package controller

import (
	"context"
	"errors"
	"fmt"
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
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// TestWhicheverRequestFailsTheEndIsTheSame has each request of a reconcile fail in turn, as if the API server refused it
// and as if only the answer were lost. The reconcile must come again by itself, the end must be that without a failure,
// and no Event may tell of what did not happen, or twice.
func TestWhicheverRequestFailsTheEndIsTheSame(t *testing.T) {
	lost := errors.New("connection reset")
	refusals := []error{
		apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("changed")), apierrors.NewInvalid(schema.GroupKind{}, "web", nil),
		fmt.Errorf("ask: %w", context.DeadlineExceeded), lost,
	}
	for name, begin := range work {
		if !t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settled := settledObjects(t)
				calm := newFakeServer(t, settled...)
				begin(t, calm.fake)
				calm.reconcileUntilIdle()
				want, told := calm.state(), calm.told()
				expect := func(i int, failure error, executed bool) {
					t.Helper()
					server := newFakeServer(t, settled...)
					begin(t, server.fake)
					server.failAt, server.failure, server.executed = i+1, failure, executed
					server.reconcileUntilIdle()
					what := fmt.Sprintf("%s fails with %q, executed: %t", calm.requests[i], failure, executed)
					if state := server.state(); state != want {
						t.Fatalf("%s: the end is\n%s\nand without it\n%s", what, state, want)
					}
					if !isWrite(calm.requests[i]) && !server.retried {
						t.Fatalf("%s: it is taken for an answer", what)
					}
					if server.memories.of(storedWebServer()).failingSince != nil || len(server.debounce.pending) > 0 {
						t.Fatalf("%s: it is not forgotten", what)
					}
					if now := server.told(); !executed && !slices.Equal(now, told) || executed && !isPart(now, told) {
						t.Fatalf("%s: told is %q, and without it %q", what, now, told)
					}
				}
				for i, request := range calm.requests {
					if !isWrite(request) {
						expect(i, lost, false)
						continue
					}
					for _, refusal := range refusals {
						expect(i, refusal, false)
					}
					expect(i, lost, true)
				}
			})
		}) {
			return // one cause shows everywhere
		}
	}
}

func isWrite(request string) bool {
	verb, _, _ := strings.Cut(request, " ")
	return verb != "get" && verb != "list"
}

// isPart reports whether each of these is among all, as often at the most.
func isPart(some, all []string) bool {
	all = slices.Clone(all)
	for _, one := range some {
		i := slices.Index(all, one)
		if i < 0 {
			return false
		}
		all = slices.Delete(all, i, i+1)
	}
	return true
}

func TestAChangeIsToldOnceAndFromWhatToWhat(t *testing.T) {
	for name, want := range map[string][]string{
		"a scale":                           {"Updated Deployment web: metadata.annotations.operator-assay.github.io/applied-hash", "spec.replicas: 0 → 2"},
		"a node port":                       {"Updated Service web-service: ", "spec.ports[0].nodePort: none → 30999"},
		"a repair":                          {"Repaired Deployment web: spec.replicas: 7 → 0"},
		"a missing child":                   {"Created Service web-service"},
		"a child that no update can repair": {"Deleted Service web-service: no update can repair it", "Created Service web-service"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[name](t, server.fake)
				server.reconcileUntilIdle()
				told := strings.Join(server.told(), "|")
				for _, part := range want {
					if !strings.Contains(told, part) {
						t.Errorf("told is %q, without %q", told, part)
					}
				}
			})
		})
	}
}

// TestAResourceIsClaimedBeforeItsChildrenAreWritten: who reads a stale cache gets no further than the claim.
func TestAResourceIsClaimedBeforeItsChildrenAreWritten(t *testing.T) {
	for name, begin := range work {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				begin(t, server.fake)
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Labels = map[string]string{"example.com/newer": "1"} })
				server.stale = true
				result, err := server.reconcile()
				if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
					t.Errorf("again after %s, %v", result.RequeueAfter, err)
				}
				for _, request := range server.requests {
					if isWrite(request) && request != "update status" {
						t.Errorf("decided on a stale view: %s", request)
					}
				}
			})
		})
	}
}

// TestAChangeCostsWhatTheContractAllows counts what is written, and read from the API server: the reads of the cache are
// free. The Deployment's controller does nothing here, so there is no status to write in the end.
func TestAChangeCostsWhatTheContractAllows(t *testing.T) {
	for name, writes := range map[string][]string{
		"a scale":                  {"update status", "apply web"},
		"a node port":              {"update status", "apply web-service", "update status"},
		"a repair":                 {"update status", "apply web"},
		"a missing child":          {"update status", "apply web-service"},
		"a Pod that becomes ready": {"update status"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[name](t, server.fake)
				server.reconcileUntilIdle()
				if written := slices.DeleteFunc(server.requests, func(request string) bool { return !isWrite(request) }); !slices.Equal(written, writes) {
					t.Errorf("written are %q, want %q", written, writes)
				}
			})
		})
	}
}

// TestAnEffectIsLogged: what Events tell is in the log, and what the status says.
func TestAnEffectIsLogged(t *testing.T) {
	for name, want := range map[string][]string{
		"a missing child": {`"msg"="Created" "child"="Service" "childName"="web-service"`},
		"a scale":         {`"msg"="Updated" "child"="Deployment" "childName"="web" "changes"=`, `"msg"="Reported status" "changes"=`},
		"a node port":     {`"msg"="Updated" "child"="Service" "childName"="web-service" "changes"=`, `"msg"="Reported status" "changes"=`, `"msg"="Reported status" "changes"=["nodePort: none → 30999"]`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[name](t, server.fake)
				server.reconcileUntilIdle()
				log := strings.Join(server.logged, "\n")
				for _, line := range want {
					if !strings.Contains(log, line) {
						t.Errorf("logged is\n%s\nwithout %s", log, line)
					}
				}
				if reported := strings.Count(log, "Reported status"); reported != strings.Count(strings.Join(want, ""), "Reported status") {
					t.Errorf("%d statuses are logged:\n%s", reported, log)
				}
				before := len(server.logged)
				server.reconcileUntilIdle()
				if len(server.logged) > before {
					t.Errorf("what did not happen is logged: %q", server.logged[before:])
				}
			})
		})
	}
}

func (s *fakeServer) reconcileUntilIdle() {
	s.Helper()
	for range 60 {
		before := s.writes
		result, err := s.reconcile()
		switch {
		case err != nil:
			time.Sleep(maxDelay)
		case result.RequeueAfter > 0:
			time.Sleep(result.RequeueAfter)
		case s.failed && s.writes == before: // nothing else would make it come again
			s.failed = false
			if !s.isAsDesired() {
				s.Fatal("it does not come again")
			}
			return
		case s.writes == before:
			return
		}
	}
	s.Fatalf("it does not come to rest: %q", s.requests[max(0, len(s.requests)-20):])
}

func (s *fakeServer) isAsDesired() bool {
	children, err := s.readChildren(s.Context(), getWebServer(s.T, s.fake))
	return err == nil && children.upToDate(getWebServer(s.T, s.fake))
}

// state is what users see in the end.
func (s *fakeServer) state() string {
	ws, deployment, service := getWebServer(s.T, s.fake), &appsv1.Deployment{}, &corev1.Service{}
	for name, child := range map[string]client.Object{"web": deployment, "web-service": service} {
		if err := s.fake.Get(s.Context(), client.ObjectKey{Namespace: "default", Name: name}, child); err != nil {
			return err.Error()
		}
	}
	for i := range ws.Status.Conditions {
		ws.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	var text strings.Builder
	for _, part := range []any{ws.Status, deployment.Spec, deployment.Labels, deployment.Annotations, deployment.OwnerReferences,
		service.Spec, service.Labels, service.Annotations, service.OwnerReferences} {
		writeJSON(&text, part)
		text.WriteByte('\n')
	}
	return text.String()
}

// told are the Events about children, sorted.
func (s *fakeServer) told() []string {
	var told []string
	for _, note := range s.notes {
		if strings.HasPrefix(note, "Normal ") && !strings.HasPrefix(note, "Normal Recovered") {
			told = append(told, note)
		}
	}
	slices.Sort(told)
	return told
}
