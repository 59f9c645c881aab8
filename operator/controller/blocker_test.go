package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestErrorsThatPassAreToldFromThoseThatNeedAPerson(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	terminating := apierrors.NewForbidden(deployments, "web", errors.New("the namespace is going"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	deployment := &child{kind: "Deployment", object: &appsv1.Deployment{}}
	for name, test := range map[string]struct {
		err                 error
		reason              string
		hasWatch, needsUser bool
	}{
		"the namespace is going":  {terminating, workload.ReasonWaitingForDeletion, true, false},
		"a quota":                 {apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota")), workload.ReasonRejected, false, true},
		"an invalid field":        {apierrors.NewInvalid(schema.GroupKind{}, "web", nil), workload.ReasonRejected, false, true},
		"a webhook's denial":      {apierrors.NewBadRequest("denied"), workload.ReasonRejected, false, true},
		"one internal error":      {apierrors.NewInternalError(errors.New("no answer")), workload.ReasonRetrying, false, false},
		"one answer that is late": {fmt.Errorf("apply: %w", context.DeadlineExceeded), workload.ReasonRetrying, false, false},
		"a conflict":              {apierrors.NewConflict(deployments, "web", errors.New("changed")), workload.ReasonRetrying, false, false},
		"a lost connection":       {errors.New("connection reset"), workload.ReasonRetrying, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r reconciler[*webserverv1.WebServer]
			got := r.classifyError(&webserverv1.WebServer{}, deployment, test.err)
			if got.reason != test.reason || got.hasWatch != test.hasWatch || got.needsUser != test.needsUser {
				t.Errorf("got %+v", got)
			}
		})
	}
	var r reconciler[*webserverv1.WebServer]
	if r.classifyError(&webserverv1.WebServer{}, deployment, nil) != nil {
		t.Error("no error is no blocker")
	}
}

func TestABlockerSaysWhichChildAndWhatTheAPIServerSaid(t *testing.T) {
	deployment := &child{kind: "Deployment", object: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}
	terminating := apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("the namespace is going"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{apierrors.NewBadRequest("denied"), "the API server refuses the Deployment: denied"},
		{errors.New("connection reset"), `Deployment "web": connection reset`},
		{terminating, "the namespace is being deleted"},
	} {
		var r reconciler[*webserverv1.WebServer]
		if got := r.classifyError(&webserverv1.WebServer{}, deployment, test.err); got.child != "Deployment" || got.message != test.want {
			t.Errorf("got %s: %s, want %s", got.child, got.message, test.want)
		}
	}
}

func TestWhatIsBlockedIsTriedAgainUnlessAWatchBringsItsEnd(t *testing.T) {
	watched, unwatched := &blocker{reason: "Watched", hasWatch: true}, &blocker{reason: "Unwatched"}
	slow, slower := &blocker{reason: "Slow", retryAfter: time.Second}, &blocker{reason: "Slower", retryAfter: time.Minute}
	for name, test := range map[string]struct {
		delay    time.Duration
		blockers []*blocker
		want     time.Duration
		err      error
	}{
		"nothing":                         {},
		"a delay":                         {delay: time.Hour, want: time.Hour},
		"a watch brings the end":          {blockers: []*blocker{watched}},
		"a watch, and a delay":            {delay: time.Hour, blockers: []*blocker{watched}, want: time.Hour},
		"no watch does":                   {blockers: []*blocker{unwatched}, err: unwatched},
		"no watch does, in spite of both": {delay: time.Hour, blockers: []*blocker{watched, slow, unwatched}, err: unwatched},
		"a time is known":                 {blockers: []*blocker{watched, slow}, want: time.Second},
		"two times are":                   {blockers: []*blocker{slow, slower}, want: time.Second},
		"a time, and a delay":             {delay: time.Hour, blockers: []*blocker{slow}, want: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := after(test.delay, test.blockers)
			if result.RequeueAfter != test.want || !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Errorf("again after %s, %v; want %s, %v", result.RequeueAfter, err, test.want, test.err)
			}
		})
	}
}

func TestAWebhookThatStaysBrokenNeedsAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reconciler[*webserverv1.WebServer]
		web := &webserverv1.WebServer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		expect := func(needsUser bool) {
			t.Helper()
			got := r.classifyError(web, &child{kind: "Service", object: &corev1.Service{}}, apierrors.NewInternalError(errors.New("no answer")))
			if got.needsUser != needsUser {
				t.Errorf("needs a person: %t", got.needsUser)
			}
		}
		expect(false)
		time.Sleep(transientFailure + time.Millisecond)
		expect(true)
		r.memories.of(web).succeed()
		expect(false)
	})
}

func TestAWebhookThatHoldsWritesIsAskedEverMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reconciler[*webserverv1.WebServer]
		web := &webserverv1.WebServer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		for _, want := range []time.Duration{childWriteTimeout, 2 * childWriteTimeout, maxDelay, maxDelay} {
			got := r.classifyError(web, &child{kind: "Service", object: &corev1.Service{}}, context.DeadlineExceeded)
			if got.retryAfter != want {
				t.Errorf("tried again after %s, want %s", got.retryAfter, want)
			}
			time.Sleep(childWriteTimeout + got.retryAfter) // held again
		}
	})
}

func TestErrorsThatDifferInNumbersAreOne(t *testing.T) {
	if !sameWords("dial tcp 10.0.0.1:34567: connection refused", "dial tcp 10.0.0.1:4711: connection refused") {
		t.Error("ports make a difference")
	}
	if sameWords("exceeded quota", "denied by policy") {
		t.Error("words make none")
	}
}
