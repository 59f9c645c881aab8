package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAChildThatTheCacheDoesNotShowIsLookedForAgain creates a Service that does not come into the cache: it may be
// deleted before it does, which no watch reports.
func TestAChildThatTheCacheDoesNotShowIsLookedForAgain(t *testing.T) {
	fake := newFakeClient(t, storedWebServer())
	r := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
		Get: func(ctx context.Context, fake client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*corev1.Service); ok {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, key.Name)
			}
			return fake.Get(ctx, key, object, options...)
		},
	}))
	r.apiReader = fake
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(storedWebServer())})
	if err != nil {
		t.Fatal(err)
	}
	if result.IsZero() {
		t.Error("nobody looks again")
	}
}

// TestARolloutThatTheWatchDoesNotShowIsNotComplete has a watch deliver nothing: what the Deployment's status says is of the image
// of before, and nobody can tell yet whether the new one is as desired.
func TestARolloutThatTheWatchDoesNotShowIsNotComplete(t *testing.T) {
	for name, test := range map[string]struct {
		before, after func(*fakeServer)
		applies       int // at the most
	}{
		"an update": {after: func(s *fakeServer) {
			editWebServer(t, s.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "nginx:1.99" })
		}, applies: 3},
		// The API server refuses all but the first, for they name the version that was repaired.
		"a repair": {before: func(s *fakeServer) { work["a repair"](t, s.fake) }, applies: 15},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, completeObjects(t)...)
				if test.before != nil {
					test.before(server)
				}
				server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
				if test.after != nil {
					test.after(server)
				}
				for begin := time.Now(); time.Since(begin) < 40*time.Second; {
					result, err := server.reconcile()
					if err != nil {
						t.Fatal(err)
					}
					if server.reported(workload.Progressing) == workload.ReasonComplete {
						t.Fatal("it is complete")
					}
					time.Sleep(result.RequeueAfter)
				}
				if applies := count(server.requests, "apply web"); applies > test.applies {
					t.Errorf("it is applied %d times", applies)
				}
				server.show(nil)
				server.reconcileUntilIdle()
				if degraded := server.reported(workload.Degraded); degraded != workload.ReasonAsExpected || !server.isAsDesired() {
					t.Errorf("when the watch is back, reported is %s", degraded)
				}
			})
		})
	}
}

func TestWhatIsWrittenIsWaitedForUntilTheCacheShowsIt(t *testing.T) {
	child := &child{kind: "Service", object: strangers()}
	waiting := child.unseen("20")
	if want := (&blocker{child: "Service", reason: workload.ReasonRetrying, retryAfter: maxDelay, written: "20",
		message: `Service "web-service" is written, which the watch does not show yet`}); *waiting != *want {
		t.Errorf("it is %+v", waiting)
	}
	for version, want := range map[string]bool{"": false, "19": false, "20": true, "21": true} {
		child.object.SetResourceVersion(version)
		if waiting.isSeen(child) != want {
			t.Errorf("the cache shows version %q, and what is written: %t", version, !want)
		}
	}
}

// TestAReadThatFailsSaysNothingOfWhatWasWritten: it is no sign that the watch is late.
func TestAReadThatFailsSaysNothingOfWhatWasWritten(t *testing.T) {
	broken := errors.New("no answer")
	for name, child := range map[string]*child{"that was made": unread("Service", &corev1.Service{}), "that was there": unread("Service", strangers())} {
		r := newFakeReconciler(unreadable(newFakeClient(t), broken))
		if err := r.readWritten(t.Context(), child, "20"); !errors.Is(err, broken) {
			t.Errorf("of one %s it says %v", name, err)
		}
	}
	late := newFakeReconciler(unreadable(newFakeClient(t), fmt.Errorf("waiting for the cache: %w", context.DeadlineExceeded)))
	if err := late.readWritten(t.Context(), unread("Service", strangers()), "20"); err == nil || !isAccepted(err) {
		t.Errorf("when time is over it says %v", err)
	}
}

// TestOneChildThatWasWrittenIsLookedForAgain: the watch may never report that it came and went.
func TestOneChildThatWasWrittenIsLookedForAgain(t *testing.T) {
	server := newFakeServer(t, completeObjects(t)...)
	work["a missing child"](t, server.fake)
	if result, _ := server.event(); result.RequeueAfter != cacheReadTimeout {
		t.Errorf("again after %s", result.RequeueAfter)
	}
}

// TestPodsThatFailDoNotHaveAChildBeLookedForLater: only what the kubelet forgets may wait for minutes.
func TestPodsThatFailDoNotHaveAChildBeLookedForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		work["a Pod that becomes ready"](t, server.fake)
		server.crash("web-1-a")
		server.event()
		work["a missing child"](t, server.fake)
		if result, _ := server.event(); server.reported(workload.Degraded) != workload.ReasonPodsFailing || result.RequeueAfter != cacheReadTimeout {
			t.Errorf("reported is %s; again after %s", server.reported(workload.Degraded), result.RequeueAfter)
		}
	})
}

// TestANameThatIsFoundTakenIsNotLookedAtAtOnce: the conflict of the creation has told of it.
func TestANameThatIsFoundTakenIsNotLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, looks := newFakeServer(t, storedWebServer(), strangers()), 0
		server.hide("Service")
		server.apiReader = interceptor.NewClient(server.fake, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				looks++
				return c.Get(ctx, key, object, options...)
			},
		})
		server.event()
		first := looks
		server.event()
		if reason := server.reported(workload.Degraded); reason != workload.ReasonNotControlled || first == 0 || looks != first {
			t.Errorf("reported is %s; it is looked at %d times, then %d", reason, first, looks-first)
		}
	})
}

// TestARepairThatIsUndoneBeforeTheWatchShowsItIsRepairedAtOnce: the same field has drifted, though nothing is waited for any more.
func TestARepairThatIsUndoneBeforeTheWatchShowsItIsRepairedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.scale(7)
		server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
		server.event() // which repairs it
		server.scale(8)
		server.show(nil)
		server.event()
		if pods := *server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment).Spec.Replicas; pods != 0 {
			t.Errorf("it has %d Pods", pods)
		}
	})
}

// TestRepairsThatTheWatchShowsLateCount: who undoes them is named all the same.
func TestRepairsThatTheWatchShowsLateCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		for range 2 * repairBurst {
			server.scale(7)
			server.requests = nil
			server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
			server.event()
			server.show(nil)
			server.event()
		}
		if reason := server.reported(workload.Degraded); reason != workload.ReasonContested {
			t.Errorf("reported is %s", reason)
		}
	})
}

// TestAnUpdateThatIsTakenBackBeforeTheWatchShowsItIsNotComplete: what the cache shows is what the user wants again, and what is
// stored is not.
func TestAnUpdateThatIsTakenBackBeforeTheWatchShowsItIsNotComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
		for _, image := range []workload.Image{"nginx:1.99", "nginx:1.23.1"} {
			editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = image })
			server.event()
		}
		if server.reported(workload.Progressing) == workload.ReasonComplete {
			t.Error("it is complete")
		}
		server.show(nil)
		server.reconcileUntilIdle()
		if image := server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image; image != "nginx:1.23.1" {
			t.Errorf("its image is %s", image)
		}
	})
}

// TestAWriteWithALateAnswerIsWritten: what is left of its time may be too short to see it in the cache.
func TestAWriteWithALateAnswerIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.meanwhile = func() { time.Sleep(childWriteTimeout - cacheReadTimeout/2) }
		server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
		work["a scale"](t, server.fake)
		server.event()
		time.Sleep(debounceMax)
		server.event()
		progressing := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Progressing)
		if want := `Deployment "web" is written, which the watch does not show yet`; progressing.Message != want {
			t.Errorf("reported is %q, want %q", progressing.Message, want)
		}
	})
}

// TestWhatIsAcceptedIsRefusedNoMore has the watch be late when the API server takes what the user has mended.
func TestWhatIsAcceptedIsRefusedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.failing, server.failure = "apply web", apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("denied"))
		editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "bad" })
		server.event()
		if reason := server.reported(workload.Degraded); reason != workload.ReasonRejected {
			t.Fatalf("reported is %s", reason)
		}
		server.failing, server.requests = "", nil
		editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "nginx:1.99" })
		server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
		for range 5 {
			result, _ := server.event()
			time.Sleep(min(result.RequeueAfter, time.Second))
		}
		if degraded, progressing := server.reported(workload.Degraded), server.reported(workload.Progressing); degraded != workload.ReasonAsExpected || progressing != workload.ReasonRetrying {
			t.Errorf("reported are %s and %s", degraded, progressing)
		}
	})
}

// TestACreationIsLookedForUntilTheCacheShowsIt: no watch reports what came and went before that.
func TestACreationIsLookedForUntilTheCacheShowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, storedWebServer())
		server.hide("Service")
		for i := range 4 {
			result, _ := server.event()
			if result.IsZero() {
				t.Errorf("look %d is the last", i)
			}
			time.Sleep(result.RequeueAfter)
		}
	})
}

// TestANameThatAStrangerGivesUpIsTakenAtOnce: its object had the operator's label, so the watch brings the end of it.
func TestANameThatAStrangerGivesUpIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := completeObjects(t)
		settled[2] = strangers()
		settled[2].SetLabels(map[string]string{labelManagedBy: Name})
		server := newFakeServer(t, settled...)
		for range 20 {
			server.event()
			time.Sleep(10 * time.Millisecond)
		}
		if err := server.fake.Delete(t.Context(), settled[2]); err != nil {
			t.Fatal(err)
		}
		if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
			t.Errorf("requested is %q", requests)
		}
	})
}

// strangers is the Service that somebody else has made under the name of the WebServer's.
func strangers() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service", UID: "strangers"}}
}

// show has the cache show the Deployment as it was, however long a read waits for what was written. nil: it is as stored.
func (s *fakeServer) show(old *appsv1.Deployment) {
	applied := func() bool { return slices.Contains(s.requests, "apply web") }
	s.Client = client.WithFieldOwner(interceptor.NewClient(s.fake, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			deployment, ok := object.(*appsv1.Deployment)
			if !ok || old == nil {
				return s.get(ctx, c, key, object, options...)
			}
			if applied() && !(&client.GetOptions{}).ApplyOptions(options).DisableReadYourWritesConsistency {
				<-ctx.Done()
				return ctx.Err()
			}
			old.DeepCopyInto(deployment)
			return nil
		},
		List: s.list, Apply: s.apply, Patch: s.patch, Delete: s.delete, SubResourceUpdate: s.updateStatus,
	}), Name)
}

func count(requests []string, request string) (n int) {
	for _, r := range requests {
		if r == request {
			n++
		}
	}
	return n
}

// TestWhoIsInTheWayIsLookedAtEverMoreSeldomWhateverHappens has Pods come and go while somebody else has the name of the Service,
// which the cache does not show, or scales the Deployment again and again: each look is a request to the API server.
func TestWhoIsInTheWayIsLookedAtEverMoreSeldomWhateverHappens(t *testing.T) {
	for name, begin := range map[string]func(*fakeServer){
		"a taken name":                       func(s *fakeServer) { s.hide("Service") },
		"a taken name of a headless Service": func(s *fakeServer) { s.hide("Service") },
		"a contested field": func(s *fakeServer) {
			for range repairBurst + 1 {
				work["a repair"](t, s.fake)
				s.event()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settled := completeObjects(t)
				if service := strangers(); strings.HasPrefix(name, "a taken name") {
					if strings.HasSuffix(name, "headless Service") {
						service.Spec.ClusterIP = corev1.ClusterIPNone
					}
					settled[2] = service
				}
				server, looks := newFakeServer(t, settled...), 0
				begin(server)
				server.apiReader = interceptor.NewClient(server.fake, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
						looks++
						return c.Get(ctx, key, object, options...)
					},
				})
				for range 300 {
					if _, err := server.reconcile(); err != nil {
						t.Fatal(err)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if looks > 10 {
					t.Errorf("it is looked at %d times in 3 s", looks)
				}
				if reason := server.reported(workload.Degraded); reason != workload.ReasonNotControlled && reason != workload.ReasonContested {
					t.Errorf("reported is %s", reason)
				}
			})
		})
	}
}

// hide has the cache show no object of a kind, as it shows none without this operator's label.
func (s *fakeServer) hide(kind string) {
	s.Client = client.WithFieldOwner(interceptor.NewClient(s.fake, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if reflect.TypeOf(object).Elem().Name() == kind {
				return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
			}
			return s.get(ctx, c, key, object, options...)
		},
		List: s.list, Apply: s.apply, Patch: s.patch, Delete: s.delete, SubResourceUpdate: s.updateStatus,
	}), Name)
}
