package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// completeObjects are a WebServer of no Pods and its children, of which the Deployment's controller has said that all is done.
func completeObjects(t *testing.T) []client.Object {
	t.Helper()
	s := newFakeServer(t, settledObjects(t)...)
	reportDeployment(t, s.fake, 1, appsv1.DeploymentStatus{ObservedGeneration: 1})
	s.reconcileUntilIdle()
	if reason := s.reported(workload.Progressing); reason != workload.ReasonComplete {
		t.Fatalf("it begins as %s", reason)
	}
	return []client.Object{getWebServer(t, s.fake), s.stored(t.Context(), "Deployment", "web"), s.stored(t.Context(), "Service", "web-service")}
}

// TestNothingIsCompleteWhileItsDeploymentIsNotAsDesired reads the status whenever it is written.
func TestNothingIsCompleteWhileItsDeploymentIsNotAsDesired(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("changed"))
	for name, test := range map[string]struct {
		work    string
		failure error // of the Deployment's apply
	}{
		"a repair":                    {"a repair", nil},
		"a repair of a stale version": {"a repair", conflict},
		"a scale of a stale version":  {"a scale", conflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				complete := completeObjects(t)
				server := newFakeServer(t, complete...)
				work[test.work](t, server.fake)
				applied := 1 + requestsUntil(t, complete, test.work, "apply web")
				server.failure, server.failAt = test.failure, applied
				if _, err := server.reconcile(); err != nil {
					t.Fatal(err)
				}
				for nth, status := range server.statuses {
					reason := meta.FindStatusCondition(status.Conditions, workload.Progressing).Reason
					if reason == workload.ReasonComplete && (nth < applied || test.failure != nil) {
						t.Errorf("request %d of %q says so", nth, server.requests)
					}
				}
				if len(server.statuses) == 0 {
					t.Error("nothing is reported")
				}
			})
		})
	}
}

// requestsUntil is how many requests come before one, when this is to be done and nothing fails.
func requestsUntil(t *testing.T, objects []client.Object, what, request string) int {
	t.Helper()
	calm := newFakeServer(t, objects...)
	work[what](t, calm.fake)
	calm.reconcileUntilIdle()
	return slices.Index(calm.requests, request)
}

// TestADeploymentThatItsControllerHasNotSeenIsNotComplete: its status tells of the spec of before.
func TestADeploymentThatItsControllerHasNotSeenIsNotComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		reportDeployment(t, server.fake, 2, appsv1.DeploymentStatus{ObservedGeneration: 1, UpdatedReplicas: 5})
		server.reconcileUntilIdle()
		progressing := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Progressing)
		if want := "0 of 0 Pods are up to date, 0 are ready"; progressing.Reason != workload.ReasonRollingOut || progressing.Message != want {
			t.Errorf("reported is %s: %s", progressing.Reason, progressing.Message)
		}
	})
}

// TestWhatIsLeftToDoDecidesWhenAReconcileComesAgain has a reconcile whose status is written, fails, or waits for Pods.
func TestWhatIsLeftToDoDecidesWhenAReconcileComesAgain(t *testing.T) {
	t.Run("nothing is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := newFakeServer(t, settledObjects(t)...)
			work["a Pod that becomes ready"](t, server.fake)
			result, err := server.reconcile()
			if err != nil || result.RequeueAfter != debounceQuiet {
				t.Fatalf("first again after %s, %v", result.RequeueAfter, err)
			}
			time.Sleep(result.RequeueAfter)
			if result, err := server.reconcile(); err != nil || !result.IsZero() || len(server.debounce.pending) > 0 {
				t.Errorf("again after %s, %v; %d statuses wait", result.RequeueAfter, err, len(server.debounce.pending))
			}
		})
	})
	t.Run("a status that cannot be written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settled, lost := settledObjects(t), errors.New("connection reset")
			for _, nth := range []int{requestsUntil(t, settled, "a node port", "update status"), requestsUntil(t, settled, "a node port", "apply web-service") + 3} {
				server := newFakeServer(t, settled...)
				work["a node port"](t, server.fake)
				server.failure, server.failAt = lost, nth+1
				if result, err := server.reconcile(); !errors.Is(err, lost) || !result.IsZero() {
					t.Errorf("request %d: again after %s, %v; the requests are %q", nth, result.RequeueAfter, err, server.requests)
				}
			}
		})
	})
	t.Run("a status that waits until Pods are quiet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settled := settledObjects(t)
			server := newFakeServer(t, settled...)
			work["a missing child"](t, server.fake)
			server.failure, server.failAt = context.DeadlineExceeded, 1+requestsUntil(t, settled, "a missing child", "apply web-service")
			if result, err := server.reconcile(); err != nil || result.RequeueAfter != debounceQuiet {
				t.Errorf("again after %s, %v", result.RequeueAfter, err)
			}
		})
	})
}

// TestAnErrorThatDoesNotPassIsReportedAsARefusal has a webhook that is broken for the Deployment alone.
func TestAnErrorThatDoesNotPassIsReportedAsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		work["a scale"](t, server.fake)
		server.failing, server.failure = "apply web", apierrors.NewInternalError(errors.New("failed calling webhook"))
		for begin := time.Now(); time.Since(begin) <= transientFailure; time.Sleep(time.Second) {
			_, _ = server.reconcile() // which is to be retried, or reports it
			if reason := server.reported(workload.Degraded); reason != workload.ReasonAsExpected {
				t.Fatalf("after %s reported is %s", time.Since(begin), reason)
			}
		}
		if result, err := server.reconcile(); err != nil || result.IsZero() {
			t.Errorf("it is not tried again: %v", err)
		}
		if reason := server.reported(workload.Degraded); reason != workload.ReasonRejected {
			t.Errorf("at last reported is %s", reason)
		}
	})
}
