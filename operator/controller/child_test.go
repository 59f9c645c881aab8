package controller

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestOwnershipIsExtractedOncePerVersion(t *testing.T) {
	owner, c := newDeployment()
	c.object.SetUID("web-child")
	extracted := 0
	c.extract = func(client.Object) (any, error) { extracted++; return c.desired, nil }
	for i, change := range []func(){func() {}, func() { c.object.SetResourceVersion("2") }, func() { owner.SetResourceVersion("2") }} {
		change()
		for range 2 {
			if !c.asDesired(owner) || extracted != i+1 {
				t.Errorf("got %d extractions after %d changes, want %d", extracted, i, i+1)
			}
		}
	}
}

func TestObstacle(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(time.Now().Add(-d))) }
	ours := map[string]string{annotationOwner: "web-uid"}
	predecessors := []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	strangers := []metav1.OwnerReference{{APIVersion: "cache.example.com/v1alpha1", Kind: "Memcached", Name: "web", UID: "before", Controller: new(true)}}
	namesakes := []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	siblings := []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "WebServer", Name: "other", UID: "other", Controller: new(true)}}
	foreign, collectors := []string{"example.com/backup"}, []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}
	for name, test := range map[string]struct {
		object metav1.ObjectMeta
		want   string
		waits  bool
	}{
		"does not exist":                       {metav1.ObjectMeta{}, "", false},
		"is ours":                              {metav1.ObjectMeta{UID: "uid", Annotations: ours}, "", false},
		"was never ours":                       {metav1.ObjectMeta{UID: "uid"}, workload.ReasonNotControlled, false},
		"has another controller":               {metav1.ObjectMeta{UID: "uid", OwnerReferences: strangers, Annotations: ours}, workload.ReasonNotControlled, false},
		"has a namesake of another group":      {metav1.ObjectMeta{UID: "uid", OwnerReferences: namesakes}, workload.ReasonNotControlled, false},
		"is another kind's":                    {metav1.ObjectMeta{UID: "uid", OwnerReferences: []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "Cache", Name: "web", UID: "before", Controller: new(true)}}}, workload.ReasonNotControlled, false},
		"has a namesake of a longer group":     {metav1.ObjectMeta{UID: "uid", OwnerReferences: []metav1.OwnerReference{{APIVersion: "my.domain.org/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}}, workload.ReasonNotControlled, false},
		"is another WebServer's":               {metav1.ObjectMeta{UID: "uid", OwnerReferences: siblings}, workload.ReasonNotControlled, false},
		"is a predecessor's":                   {metav1.ObjectMeta{UID: "uid", OwnerReferences: predecessors}, workload.ReasonWaitingForDeletion, true},
		"is a predecessor's, with a finalizer": {metav1.ObjectMeta{UID: "uid", OwnerReferences: predecessors, Finalizers: foreign}, workload.ReasonWaitingForDeletion, true},
		"is being deleted":                     {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Hour), Finalizers: collectors}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer":         {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(0), Finalizers: foreign}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer, stuck":  {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Minute), Finalizers: foreign}, workload.ReasonWaitingForDeletion, false},
	} {
		owner, c := newDeployment()
		test.object.Name = "web"
		c.object = &appsv1.Deployment{ObjectMeta: test.object}
		got := cmp.Or(obstacle(webServers, owner, c), &problem{})
		blocked := strings.Contains(got.message, "blocked by the finalizers [example.com/backup]")
		if got.reason != test.want || got.waits != test.waits || strings.Contains(got.message, ` "web" `) != (test.want != "") || blocked != (test.object.DeletionTimestamp != nil && test.object.Finalizers[0] == foreign[0]) {
			t.Errorf("%s: got %v, waits %t, want %q, waits %t", name, got, got.waits, test.want, test.waits)
		}
	}
}

func TestProblemOfAFailedWrite(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		failing time.Duration
		reason  string
		waits   bool
	}{
		"a rejection":               {errRejected, 0, workload.ReasonRejected, false},
		"an invalid object":         {errInvalid, 0, workload.ReasonRejected, false},
		"a bad request":             {apierrors.NewBadRequest("unknown field"), 0, workload.ReasonRejected, false},
		"a node port in use":        {errPortTaken, 0, workload.ReasonRollingOut, true},
		"a server error":            {errServer, 0, workload.ReasonRollingOut, true},
		"a server error that lasts": {errServer, transientFailure + 1, workload.ReasonRejected, false},
		"a conflict":                {errConflict, 0, workload.ReasonRollingOut, true},
		"a conflict that lasts":     {errConflict, transientFailure + 1, workload.ReasonRejected, false},
		"a known problem":           {&problem{reason: workload.ReasonNotControlled}, 0, workload.ReasonNotControlled, false},
	} {
		_, c := newDeployment()
		if got := problemOf(c, test.err, test.failing); got.reason != test.reason || got.waits != test.waits {
			t.Errorf("%s: got %s, waits %t, want %s, waits %t", name, got.reason, got.waits, test.reason, test.waits)
		}
	}
}

var errInvalid = apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "web", nil)
var errPortTaken = fmt.Errorf("provided port is already allocated: %w", errInvalid)

// Deleting the child helps only if another client has added fields that conflict with the desired fields.
func TestRejectionAdvisesDeletion(t *testing.T) {
	_, c := newDeployment()
	const advice = "delete the Deployment"
	if got := problemOf(c, errInvalid, 0).message; strings.Contains(got, advice) {
		t.Errorf("a Deployment that does not exist: got %q", got)
	}
	c.object.SetUID("web-child")
	if got := problemOf(c, errInvalid, 0).message; !strings.Contains(got, advice) || !strings.Contains(got, errInvalid.Error()) || problemOf(c, errPortTaken, 0).waits {
		t.Errorf("an invalid Deployment: got %q, want %q and %q, and no delay for a taken port", got, errInvalid, advice)
	}
	for _, err := range []error{errRejected, errServer, errConflict, errPortTaken} {
		if got := problemOf(c, err, transientFailure+1).message; strings.Contains(got, advice) || !strings.Contains(got, err.Error()) {
			t.Errorf("got %q, want %q without %q", got, err, advice)
		}
	}
}

// The API server accepts duplicate list elements from another client, but the applied fields then cannot be read.
func TestChildThatDiffersAfterWriteIsContested(t *testing.T) {
	for want, unreadable := range map[string]error{
		`Deployment "cache" differs from the applied fields`:                    nil,
		`the fields of Deployment "cache" cannot be read: ` + errServer.Error(): errServer,
	} {
		r, cache, children := storedReconciler(t)
		c := children[0]
		c.state = r.states.of(cache).child(c)
		c.state.updating = true
		c.extract = func(client.Object) (any, error) { return nil, unreadable }
		err := r.apply(t.Context(), cache, c)
		if got, ok := errors.AsType[*problem](err); !ok || c.state.updating || got.reason != workload.ReasonContested || !strings.Contains(got.message, want) {
			t.Errorf("got %v, updating %t, want Contested with %s, and the end of the update", err, c.state.updating, want)
		}
	}
}

// kubectl describe lists only the Events that refer to the object.
func TestEventRefersToOwnerAndChild(t *testing.T) {
	owner, c := newDeployment()
	owner.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "my.domain", Version: "v1", Kind: "WebServer"})
	c.object = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web-child"}, Spec: appsv1.DeploymentSpec{Paused: true, MinReadySeconds: 1}}
	(&reconciler{}).record(t.Context(), owner, c, c.object) // the recorder is nil, so an Event about an unchanged child would panic
	const changes = "spec.minReadySeconds: none → 1, spec.paused: none → true"
	for want, uid := range map[string]types.UID{
		"Created Apply Created Deployment web":               "",
		"Updated Apply Updated Deployment web: " + changes:   "web-child",
		"Repaired Apply Repaired Deployment web: " + changes: "web-child",
	} {
		c.state.updating = !strings.HasPrefix(want, "Repaired")
		before := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: "web", UID: uid}}
		recorder := &events.FakeRecorder{Events: make(chan string, 1), Verbose: true}
		(&reconciler{events: recorder}).record(t.Context(), owner, c, before)
		close(recorder.Events) // a missing Event is received as an empty string
		want = "Normal " + want + " {kind=WebServer,apiVersion=my.domain/v1} {kind=Deployment,apiVersion=apps/v1}"
		if got := <-recorder.Events; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
