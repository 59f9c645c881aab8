package controller

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/operator/api/workload"
)

var (
	errRejected = apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("exceeded quota"))
	errServer   = apierrors.NewInternalError(errors.New("webhook failed"))
)

// newChild returns a WebServer's Deployment that does not exist, with empty state.
func newChild() (resource, *child) {
	owner := storedWebServer()
	c := webServers.children(webServers, owner)[0]
	c.writes = (&states{}).of(owner).writesOf(c)
	return owner, c
}

func TestRejectedChildBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, c := newChild()
		for want := minRejectedDelay; want < 2*maxRejectedDelay; want *= 2 {
			if !c.failed(owner, errRejected) || c.writes.problem.reason != workload.ReasonRejected {
				t.Fatalf("got problem %v, want Rejected", c.writes.problem)
			}
			if got := retryAfter([]*child{c}, nil); got != min(want, maxRejectedDelay) {
				t.Errorf("got a retry after %s, want %s", got, min(want, maxRejectedDelay))
			}
			time.Sleep(min(want, maxRejectedDelay) - 1)
			if !c.delayed(owner) {
				t.Error("the child is written before its delay is over")
			}
			time.Sleep(time.Nanosecond)
			if c.delayed(owner) {
				t.Error("the child is not written when its delay is over")
			}
		}
	})
}

func TestRejectedChildIsWrittenAtOnce(t *testing.T) {
	for name, change := range map[string]func(resource, *child){
		"for another spec":   func(owner resource, _ *child) { owner.SetGeneration(2) },
		"for another object": func(_ resource, c *child) { c.object.SetUID("another") },
		"after a success":    func(owner resource, c *child) { c.succeeded(owner) },
	} {
		t.Run(name, func(t *testing.T) {
			owner, c := newChild()
			c.failed(owner, errRejected)
			if change(owner, c); c.delayed(owner) {
				t.Error("the write is delayed")
			}
			if c.failed(owner, errRejected); c.writes.delay != minRejectedDelay {
				t.Errorf("got a delay of %s, want %s", c.writes.delay, minRejectedDelay)
			}
		})
	}
}

func TestTransientErrorIsReportedOnceItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, c := newChild()
		for i, want := range []bool{false, false, true, true} {
			if got := c.failed(owner, errServer); got != want {
				t.Errorf("got a problem for error %d: %t, want %t", i, got, want)
			}
			time.Sleep(transientFailure/2 + time.Millisecond)
		}
		if c.failed(owner, errUnreadable) {
			t.Error("an unreadable child is reported")
		}
	})
}

func TestRepairsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner, c := newChild()
		for i := range repairBurst {
			if c.contested() {
				t.Errorf("contested after %d repairs", i)
			}
			c.writes.repairs.Allow()
			c.succeeded(owner)
		}
		if !c.contested() || retryAfter([]*child{c}, nil) != repairInterval {
			t.Errorf("got a repair after %s, want %s", retryAfter([]*child{c}, nil), repairInterval)
		}
		if time.Sleep(repairInterval); c.contested() {
			t.Error("still contested")
		}
	})
}

func TestSuccessorStartsWithEmptyState(t *testing.T) {
	s, owner := &states{}, storedWebServer()
	before := s.of(owner)
	if s.of(owner.DeepCopy()) != before {
		t.Error("the state was lost")
	}
	if owner.UID = "another"; s.of(owner) == before {
		t.Error("the state was inherited")
	}
}

func TestObstacle(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(time.Now().Add(-d))) }
	ours := map[string]string{annotationOwner: "web-uid"}
	predecessors := []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	strangers := []metav1.OwnerReference{{APIVersion: "cache.example.com/v1alpha1", Kind: "Memcached", Name: "web", UID: "before", Controller: new(true)}}
	namesakes := []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	foreign, collectors := []string{"example.com/backup"}, []string{metav1.FinalizerDeleteDependents}
	for name, test := range map[string]struct {
		object metav1.ObjectMeta
		want   string
		passes bool
	}{
		"does not exist":                      {metav1.ObjectMeta{}, "", false},
		"is ours":                             {metav1.ObjectMeta{UID: "uid", Annotations: ours}, "", false},
		"was never ours":                      {metav1.ObjectMeta{UID: "uid"}, workload.ReasonNotControlled, false},
		"has another controller":              {metav1.ObjectMeta{UID: "uid", OwnerReferences: strangers, Annotations: ours}, workload.ReasonNotControlled, false},
		"has a namesake of another group":     {metav1.ObjectMeta{UID: "uid", OwnerReferences: namesakes}, workload.ReasonNotControlled, false},
		"is a predecessor's":                  {metav1.ObjectMeta{UID: "uid", OwnerReferences: predecessors}, workload.ReasonWaitingForDeletion, true},
		"is being deleted":                    {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Hour), Finalizers: collectors}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer":        {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(0), Finalizers: foreign}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer, stuck": {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Minute), Finalizers: foreign}, workload.ReasonWaitingForDeletion, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner, c := newChild()
			test.object.Name = "web"
			c.object = &appsv1.Deployment{ObjectMeta: test.object}
			got := (&reconciler{kind: webServers}).obstacle(owner, c)
			if got == nil {
				got = &problem{}
			}
			if got.reason != test.want || got.passes != test.passes {
				t.Errorf("got %q, passes %t, want %q, passes %t", got.reason, got.passes, test.want, test.passes)
			}
		})
	}
}
