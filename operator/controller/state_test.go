package controller

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/operator/api/workload"
)

var (
	errRejected = apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("exceeded quota"))
	errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "web", errors.New("modified"))
	errServer   = apierrors.NewInternalError(errors.New("webhook failed"))
)

// newDeployment returns a WebServer and its child Deployment, which does not exist yet and has an empty state.
func newDeployment() (resource, *child) {
	owner := storedWebServer()
	c := webServers.children(webServers, owner)[0]
	c.state = (&states{}).of(owner).child(c)
	return owner, c
}

func TestFailedChildBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, c := newDeployment()
		for want := minRetryDelay; want < 2*maxRetryDelay; want *= 2 {
			if got := c.fail(owner, errRejected); got != min(want, maxRetryDelay) {
				t.Fatalf("got a retry after %s, want %s", got, min(want, maxRetryDelay))
			}
			time.Sleep(min(want, maxRetryDelay) - time.Nanosecond)
			if got := c.retryAfter(owner, time.Now()); got != time.Nanosecond {
				t.Errorf("got %s left of the delay, want 1ns", got)
			}
			if time.Sleep(time.Nanosecond); c.retryAfter(owner, time.Now()) > 0 {
				t.Error("got a delay after the retry time")
			}
		}
	})
}

func TestDelayEnds(t *testing.T) {
	for name, test := range map[string]struct {
		change      func(resource, *child)
		after, next time.Duration
	}{
		"for another spec":         {func(owner resource, _ *child) { owner.SetGeneration(2) }, never, minRetryDelay},
		"for another object":       {func(_ resource, c *child) { c.object.SetUID("another") }, minRetryDelay, minRetryDelay},
		"for a changed child":      {func(_ resource, c *child) { c.object.SetGeneration(2) }, minRetryDelay, 8 * minRetryDelay},
		"for a lost owner":         {func(_ resource, c *child) { c.object.SetOwnerReferences(nil) }, minRetryDelay, 8 * minRetryDelay},
		"for a lost label":         {func(_ resource, c *child) { c.object.SetLabels(nil) }, minRetryDelay, 8 * minRetryDelay},
		"for a changed Service":    {func(_ resource, c *child) { c.object.SetGeneration(0) }, minRetryDelay, 8 * minRetryDelay},
		"not for the same Service": {func(_ resource, c *child) { c.object.SetGeneration(0); c.state.failed.version = "" }, 4 * minRetryDelay, 8 * minRetryDelay},
		"not for a new status":     {func(_ resource, c *child) { c.object.SetResourceVersion("2") }, 4 * minRetryDelay, 8 * minRetryDelay},
	} {
		synctest.Test(t, func(t *testing.T) {
			owner, c := newDeployment()
			owner.CommonStatus().ObservedGeneration = owner.GetGeneration()
			c.object.SetAnnotations(map[string]string{annotationOwner: string(owner.GetUID())})
			c.object.SetOwnerReferences(controllerReference(owner))
			c.object.SetLabels(map[string]string{labelManagedBy: Name})
			c.object.SetUID("child-uid")
			c.object.SetGeneration(1)
			c.fail(owner, &problem{})
			time.Sleep(time.Hour)
			if c.fail(owner, errServer); !c.problem.waits {
				t.Errorf("%s: got %v, want a retry", name, c.problem)
			}
			time.Sleep(transientFailure + 1)
			c.fail(owner, errServer)
			test.change(owner, c)
			if _, after := (&reconciler{workloadKind: webServers}).outdated(owner, []*child{c}, time.Now()); after != test.after {
				t.Errorf("%s: got a write after %s, want %s", name, after, test.after)
			}
			if time.Sleep(min(test.after, time.Minute)); c.retryAfter(owner, time.Now()) > 0 {
				t.Errorf("%s: got a delayed write", name)
			}
			if delay := c.fail(owner, errServer); delay != test.next || c.problem.waits {
				t.Errorf("%s: got a delay of %s and %v, want %s and the same problem", name, delay, c.problem, test.next)
			}
		})
	}
}

func TestConflictIsRetriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, c := newDeployment()
		for ; ; time.Sleep(time.Second) {
			after := c.fail(owner, errConflict)
			if !c.problem.waits {
				break
			}
			if after != lookAgain || c.retryAfter(owner, time.Now()) > 0 {
				t.Fatalf("got a delay after a conflict")
			}
		}
		if failing := time.Since(c.state.since); failing <= transientFailure || failing > transientFailure+time.Second {
			t.Errorf("got a report after %s, want %s", failing, transientFailure)
		}
	})
}

func TestReportedFailureStaysReported(t *testing.T) {
	owner, c := newDeployment()
	reported := problemOf(c, errServer, transientFailure+1).message
	for message, waits := range map[string]bool{"first; " + reported: false, strings.ReplaceAll(reported, "Deployment", "Service"): true, "delete the Deployment": true} {
		c.state.since, owner.CommonStatus().Conditions = time.Now(), []metav1.Condition{{Type: workload.Degraded, Message: message}}
		if c.fail(owner, errServer); c.problem.waits != waits {
			t.Errorf("after the report %q: got waits %t, want %t", message, c.problem.waits, waits)
		}
	}
}

// Once the children match their desired state again, only this delay triggers the reconcile that clears Contested.
func TestContestIsCheckedAgain(t *testing.T) {
	_, c := newDeployment()
	c.state.repairs.AllowN(time.Now(), repairBurst)
	c.problem = &problem{reason: workload.ReasonRejected}
	if after := c.findContest(time.Now()); after <= 0 || after > repairInterval || c.problem.reason != workload.ReasonRejected {
		t.Errorf("got the next reconcile after %s and %s, want at most %s and Rejected", after, c.problem.reason, repairInterval)
	}
}

func TestEachObjectHasItsState(t *testing.T) {
	owner, c := newDeployment()
	_, second := newDeployment()
	second.object.SetName("web-canary")
	s := &states{}
	before := s.of(owner)
	if first := before.child(c); first == before.child(second) || first != before.child(c) || before != s.of(owner.DeepCopyObject().(resource)) {
		t.Error("got one state for both children, or another state for a copy of the resource")
	}
	if owner.SetUID("another"); s.of(owner) == before {
		t.Error("got the state of the previous resource")
	}
}
