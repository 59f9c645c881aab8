package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestErrorsThatPassAreToldFromThoseThatNeedAPerson(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	terminating := apierrors.NewForbidden(deployments, "web", errors.New("the namespace is going"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	deployment := &child{kind: "Deployment", object: &appsv1.Deployment{}}
	for name, test := range map[string]struct {
		err       error
		reason    string
		needsUser bool
	}{
		"what is told already":    {fmt.Errorf("apply: %w", &blocker{reason: workload.ReasonContested, needsUser: true}), workload.ReasonContested, true},
		"the namespace is going":  {terminating, workload.ReasonWaitingForDeletion, false},
		"a quota":                 {apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota")), workload.ReasonRejected, true},
		"an invalid field":        {apierrors.NewInvalid(schema.GroupKind{}, "web", nil), workload.ReasonRejected, true},
		"a webhook's denial":      {apierrors.NewBadRequest("denied"), workload.ReasonRejected, true},
		"one internal error":      {apierrors.NewInternalError(errors.New("no answer")), workload.ReasonRetrying, false},
		"one answer that is late": {fmt.Errorf("apply: %w", context.DeadlineExceeded), workload.ReasonRetrying, false},
		"a conflict":              {apierrors.NewConflict(deployments, "web", errors.New("changed")), workload.ReasonRetrying, false},
		"a lost connection":       {errors.New("connection reset"), workload.ReasonRetrying, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r reconciler[*webserverv1.WebServer]
			got := r.classifyError(&webserverv1.WebServer{}, deployment, test.err)
			if got.reason != test.reason || got.needsUser != test.needsUser {
				t.Errorf("got %+v", got)
			}
			if waits := got.retryAfter > 0; waits != (errors.Is(test.err, context.DeadlineExceeded) || errors.Is(test.err, terminating)) {
				t.Errorf("it is tried again after %s", got.retryAfter)
			}
		})
	}
	var r reconciler[*webserverv1.WebServer]
	if r.classifyError(&webserverv1.WebServer{}, deployment, nil) != nil {
		t.Error("no error is no blocker")
	}
}

func TestWhatMustNotBeWrittenSaysWhy(t *testing.T) {
	const mine, predecessors, others = "web-uid", "predecessor-uid", "another-uid"
	kept := []string{"example.com/kept", metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}
	going := `the previous Service "web-service" is being deleted`
	for name, test := range map[string]struct {
		controller      types.UID
		deleted         time.Duration // ago; 0: it is not
		finalizers      []string
		unlabelled      bool
		reason, message string
		needsUser       bool
		again           time.Duration
	}{
		"it is the resource's":                     {controller: mine},
		"it is, and goes":                          {controller: mine, deleted: time.Second, reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it is set free, and goes":                 {deleted: time.Second, reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it is, and goes unseen":                   {controller: mine, deleted: time.Second, unlabelled: true, reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it is its predecessor's":                  {controller: predecessors, reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it is, and will be kept":                  {controller: predecessors, finalizers: kept, reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it goes with its dependents":              {controller: mine, deleted: time.Hour, finalizers: kept[1:2], reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"it goes without its dependents":           {controller: mine, deleted: time.Hour, finalizers: kept[2:], reason: workload.ReasonWaitingForDeletion, message: going, again: cacheReadTimeout},
		"somebody keeps it for a moment":           {controller: mine, deleted: 3 * time.Second, finalizers: kept, reason: workload.ReasonWaitingForDeletion, message: going + " and waits for the finalizers [example.com/kept]: see that their controllers run, or remove them"},
		"somebody keeps it as long as errors pass": {controller: mine, deleted: transientFailure, finalizers: kept, reason: workload.ReasonWaitingForDeletion, message: going + " and waits for the finalizers [example.com/kept]: see that their controllers run, or remove them"},
		"somebody keeps it":                        {controller: mine, deleted: time.Hour, finalizers: kept, reason: workload.ReasonWaitingForDeletion, message: going + " and waits for the finalizers [example.com/kept]: see that their controllers run, or remove them", needsUser: true},
		"it is somebody else's":                    {controller: others, reason: workload.ReasonNotControlled, message: `Service "web-service" exists and is not controlled by this WebServer: delete it, or give this WebServer another name`, needsUser: true},
		"it is somebody else's, and goes":          {controller: others, deleted: time.Second, reason: workload.ReasonNotControlled, message: `Service "web-service" exists and is not controlled by this WebServer: delete it, or give this WebServer another name`, needsUser: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				object, child := appliedService()
				object.Labels, object.Finalizers = webServers.selector(storedWebServer()), test.finalizers
				object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "WebServer", Name: "web", UID: test.controller, Controller: new(true)}}
				if test.controller == "" {
					object.OwnerReferences, object.Annotations = nil, map[string]string{annotationOwner: mine}
				}
				if test.controller == others {
					object.OwnerReferences[0].Kind = "Memcached"
				}
				if test.unlabelled {
					object.Labels = nil
				}
				if test.deleted > 0 {
					object.DeletionTimestamp = new(metav1.NewTime(time.Now().Add(-test.deleted)))
				}
				want := &blocker{child: "Service", reason: test.reason, message: test.message, needsUser: test.needsUser, retryAfter: test.again}
				if test.reason == "" {
					want = nil
				}
				if got := newFakeReconciler(newFakeClient(t)).blocker(storedWebServer(), child); !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
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

func TestABlockerIsAnErrorThatTellsWhy(t *testing.T) {
	if got := (&blocker{reason: workload.ReasonRejected, message: "denied"}).Error(); got != "Rejected: denied" {
		t.Errorf("got %q", got)
	}
}

func TestTheFirstOfWhatMayBeOverIsLookedAt(t *testing.T) {
	slow, slower := &blocker{reason: "Slow", retryAfter: time.Second}, &blocker{reason: "Slower", retryAfter: time.Minute}
	for name, test := range map[string]struct {
		delay    time.Duration
		blockers []*blocker
		want     time.Duration
	}{
		"nothing":                    {},
		"a delay":                    {delay: time.Hour, want: time.Hour},
		"a blocker":                  {blockers: []*blocker{slow}, want: time.Second},
		"two blockers":               {blockers: []*blocker{slow, slower}, want: time.Second},
		"two, the other first":       {blockers: []*blocker{slower, slow}, want: time.Second},
		"a blocker, a longer delay":  {delay: time.Hour, blockers: []*blocker{slow}, want: time.Second},
		"a blocker, a shorter delay": {delay: time.Millisecond, blockers: []*blocker{slow}, want: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if result := after(test.delay, test.blockers); result.RequeueAfter != test.want {
				t.Errorf("again after %s, want %s", result.RequeueAfter, test.want)
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
		time.Sleep(3 * time.Second) // an API server that starts again is back by then
		expect(false)
		time.Sleep(transientFailure - 3*time.Second)
		expect(false)
		time.Sleep(time.Millisecond)
		expect(true)
		if got := r.classifyError(web, &child{kind: "Service", object: &corev1.Service{}}, errors.New("connection reset")); got.needsUser {
			t.Error("nor does a lost connection pass by itself")
		}
		r.memories.of(web).succeed()
		expect(false)
	})
}

// TestWhoDoesNotAnswerIsNotSaidToRefuse: client-go waits out an answer 429, so a busy API server does not answer in time either.
func TestWhoDoesNotAnswerIsNotSaidToRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, web := newFakeReconciler(newFakeClient(t)), storedWebServer()
		service := &child{kind: "Service", object: &corev1.Service{}}
		late := fmt.Errorf("apply: %w", context.DeadlineExceeded)
		if first := r.classifyError(web, service, late); first.needsUser {
			t.Errorf("the first is %+v", first)
		}
		time.Sleep(2 * transientFailure)
		want := "the Service is not written within 5s: see which admission webhook is slow, or whether the API server is busy: apply: context deadline exceeded"
		if got := r.classifyError(web, service, late); !got.needsUser || got.message != want {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAWebhookThatHoldsWritesIsAskedEverMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reconciler[*webserverv1.WebServer]
		web := &webserverv1.WebServer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		for _, want := range []time.Duration{childWriteTimeout, 2 * childWriteTimeout, maxDelay, maxDelay} {
			got := r.classifyError(web, &child{kind: "Service", object: &corev1.Service{}}, fmt.Errorf("apply: %w", context.DeadlineExceeded))
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
