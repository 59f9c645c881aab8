package controller

import (
	"errors"
	"reflect"
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

	"github.com/operator-assay/assay/operator/api/workload"
)

// reported is the reason of a condition as it is stored.
func (s *fakeServer) reported(conditionType string) string {
	return meta.FindStatusCondition(getWebServer(s.T, s.fake).Status.Conditions, conditionType).Reason
}

func TestAWriteThatFailsIsRetriedAndARefusalReportedAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		failure               error
		degraded, progressing string
		again                 time.Duration
	}{
		"a quota":           {apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("quota")), workload.ReasonRejected, workload.ReasonBlocked, baseDelay},
		"a lost connection": {errors.New("connection reset"), workload.ReasonAsExpected, workload.ReasonRollingOut, baseDelay}, // it may pass
		"a conflict":        {apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("changed")), workload.ReasonAsExpected, workload.ReasonRollingOut, cacheReadTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settled := settledObjects(t)
				calm := newFakeServer(t, settled...)
				work["a scale"](t, calm.fake)
				calm.reconcileUntilIdle()
				server := newFakeServer(t, settled...)
				work["a scale"](t, server.fake)
				server.failAt, server.failure = slices.Index(calm.requests, "apply web")+1, test.failure
				result, err := server.reconcile()
				if err != nil || result.RequeueAfter != test.again {
					t.Errorf("again after %s, %v", result.RequeueAfter, err)
				}
				if degraded, progressing := server.reported(workload.Degraded), server.reported(workload.Progressing); degraded != test.degraded || progressing != test.progressing {
					t.Errorf("reported are %s and %s", degraded, progressing)
				}
			})
		})
	}
}

// TestWhatWasRefusedIsNotOverBeforeItIsWritten has a webhook be broken for long, and then something else be in the way of the
// next try, or another process make it.
func TestWhatWasRefusedIsNotOverBeforeItIsWritten(t *testing.T) {
	broken := apierrors.NewInternalError(errors.New("failed calling webhook"))
	for name, next := range map[string]struct {
		restarted bool
		failure   error
	}{
		"the API server is too busy": {false, apierrors.NewTooManyRequests("wait", 1)},
		"a connection is lost":       {false, errors.New("connection reset")},
		"the operator is restarted":  {true, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work["a node port"](t, server.fake)
				server.notes = nil
				server.failing, server.failure = "apply web-service", broken
				for begin := time.Now(); time.Since(begin) <= 2*transientFailure; {
					result, _ := server.event()
					time.Sleep(result.RequeueAfter)
				}
				if server.failure = next.failure; next.restarted {
					server.memories = memories{}
				}
				server.event()
				if reason := server.reported(workload.Degraded); reason != workload.ReasonRejected {
					t.Errorf("reported is %s", reason)
				}
				if generation := meta.FindStatusCondition(getWebServer(t, server.fake).Status.Conditions, workload.Degraded).ObservedGeneration; generation != 2 {
					t.Errorf("it is of generation %d", generation)
				}
				server.failing = ""
				server.reconcileUntilIdle()
				if told := server.notes; len(told) != 3 || !strings.HasPrefix(told[0], "Warning Rejected") || !strings.HasPrefix(told[1], "Normal Updated") || !strings.HasPrefix(told[2], "Normal Recovered") {
					t.Errorf("told is %q", told)
				}
			})
		})
	}
}

func TestAStatusFollowsItsPodsWhenTheyAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		work["a Pod that becomes ready"](t, server.fake)
		result, err := server.reconcile()
		if err != nil || result.RequeueAfter != debounceQuiet || server.writes > 0 {
			t.Errorf("again after %s, %v, and %d writes", result.RequeueAfter, err, server.writes)
		}
		server.reconcileUntilIdle()
		status := getWebServer(t, server.fake).Status
		if status.Replicas != 1 || status.ReadyReplicas != 1 || !slices.Equal(status.Nodes, []string{"web-1-a"}) || server.reported(workload.Available) != workload.ReasonPodsReady {
			t.Errorf("reported is %+v", status)
		}
		if !server.debounce.completed.IsZero() {
			t.Error("others wait for a resource that is not complete")
		}
	})
}

func TestOthersWaitWhenAResourceIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, storedWebServer())
		server.reconcileUntilIdle()
		if server.reported(workload.Progressing) != workload.ReasonComplete || server.debounce.completed.IsZero() {
			t.Errorf("reported is %s, and others know of %s", server.reported(workload.Progressing), server.debounce.completed)
		}
	})
}

// TestWhatIsBlockedIsNotClaimedAgain has somebody else have the Service's name: each retry looks, and writes nothing.
func TestWhatIsBlockedIsNotClaimedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := settledObjects(t)
		settled[2] = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service", UID: "strangers"}}
		server := newFakeServer(t, settled...)
		for _, want := range []time.Duration{baseDelay, 2 * baseDelay} {
			server.writes = 0
			if result, err := server.reconcile(); err != nil || result.RequeueAfter != want {
				t.Errorf("again after %s, %v", result.RequeueAfter, err)
			}
			time.Sleep(want)
		}
		if server.writes > 0 || server.reported(workload.Degraded) != workload.ReasonNotControlled {
			t.Errorf("%d writes, and reported is %s", server.writes, server.reported(workload.Degraded))
		}
		if len(server.notes) != 1 || !strings.HasPrefix(server.notes[0], "Warning NotControlled ") {
			t.Errorf("told is %q", server.notes)
		}
		if stranger := server.stored(t.Context(), "Service", "web-service"); !reflect.DeepEqual(stranger.GetLabels(), settled[2].GetLabels()) {
			t.Errorf("it is written: %+v", stranger)
		}
	})
}
