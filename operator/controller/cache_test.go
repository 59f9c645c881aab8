package controller

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// cached is an object as the operator's cache keeps it.
func cached[T client.Object](t *testing.T, object T) T {
	t.Helper()
	for kind, options := range cacheOptions().ByObject {
		if _, same := kind.(T); same {
			kept, err := options.Transform(object.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			return kept.(T)
		}
	}
	t.Fatalf("%T is in no cache", object)
	return object
}

// laden is the metadata of an object that many have written.
func laden() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "a", Name: "pod", UID: "uid", Labels: map[string]string{labelInstance: "web"},
		Annotations:     map[string]string{"example.com/laden": "laden"},
		OwnerReferences: []metav1.OwnerReference{{UID: "owner", Controller: new(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "laden"}, {Manager: Name}, {Manager: "laden", Subresource: "status"}}}
}

// TestACachedPodTellsWhatItsStatusTells: what the cache drops of a Pod must not be missed.
func TestACachedPodTellsWhatItsStatusTells(t *testing.T) {
	now := time.Now()
	container := func(name string, change func(*corev1.ContainerStatus)) corev1.ContainerStatus {
		c := corev1.ContainerStatus{Name: name, Image: "nginx:1", ImageID: "laden", ContainerID: "laden"}
		change(&c)
		return c
	}
	pulling := func(c *corev1.ContainerStatus) {
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}
	}
	denied := func(c *corev1.ContainerStatus) {
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: "RunContainerError", Message: "denied"}
	}
	ended := func(c *corev1.ContainerStatus) {
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, FinishedAt: metav1.NewTime(now)}
	}
	again := func(c *corev1.ContainerStatus) { ended(c); c.Ready = true }
	pod := &corev1.Pod{ObjectMeta: laden(), Spec: corev1.PodSpec{NodeName: "laden"}, Status: corev1.PodStatus{
		Phase: corev1.PodRunning, Message: "laden", HostIP: "laden",
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no node", LastProbeTime: metav1.Now()},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, Message: "laden"},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		},
		InitContainerStatuses: []corev1.ContainerStatus{container("init", pulling), container("init-2", ended)},
		ContainerStatuses:     []corev1.ContainerStatus{container("one", denied), container("two", ended), container("three", again)},
	}}
	kept := cached(t, pod)
	if got, want := failingPods([]corev1.Pod{*kept}, now), failingPods([]corev1.Pod{*pod}, now); len(want) != 5 || !slices.Equal(got, want) {
		t.Errorf("failing are %q, and of the Pod itself %q", got, want)
	}
	if !podReady(kept) || kept.Status.Phase != pod.Status.Phase {
		t.Errorf("its status is %+v", kept.Status)
	}
	expectLight(t, kept)
}

// expectLight expects what nobody looks at to be gone, and what tells whose an object is to be there.
func expectLight(t *testing.T, object client.Object) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "laden") || strings.Contains(string(text), "lastProbeTime\":\"") {
		t.Errorf("the cache keeps %s", text)
	}
	if !slices.Equal(byController(object), []string{"owner"}) || object.GetLabels()[labelInstance] != "web" || object.GetName() != "pod" || object.GetUID() != "uid" {
		t.Errorf("the cache lost whose it is: %s", text)
	}
}

func TestACachedReplicaSetTellsWhoseItIsAndNothingElse(t *testing.T) {
	expectLight(t, cached(t, &appsv1.ReplicaSet{ObjectMeta: laden(), Status: appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{{Message: "laden"}}},
		Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "laden"}}}}))
}

func TestACachedChildTellsWhatThisOperatorOwns(t *testing.T) {
	mine := []metav1.ManagedFieldsEntry{{Manager: Name}}
	for _, child := range []client.Object{
		cached(t, &appsv1.Deployment{ObjectMeta: laden()}), cached(t, &corev1.Service{ObjectMeta: laden()}),
	} {
		if fields := child.GetManagedFields(); !slices.EqualFunc(fields, mine, func(a, b metav1.ManagedFieldsEntry) bool { return a.Manager == b.Manager }) {
			t.Errorf("of a %T are kept %+v", child, fields)
		}
		if child.GetAnnotations() == nil {
			t.Errorf("of a %T are no annotations", child)
		}
	}
	for _, resource := range []client.Object{
		cached(t, &webserverv1.WebServer{ObjectMeta: laden()}), cached(t, &memcachedv1alpha1.Memcached{ObjectMeta: laden()}),
	} {
		if len(resource.GetManagedFields()) > 0 {
			t.Errorf("of a %T are kept %+v", resource, resource.GetManagedFields())
		}
	}
}

// TestTheCacheHoldsWhatIsMadeAndNothingOfOthers: a Pod has the labels of its Deployment's selector.
func TestTheCacheHoldsWhatIsMadeAndNothingOfOthers(t *testing.T) {
	made, others := labels.Set(webServers.selector(storedWebServer())), labels.Set{labelManagedBy: "Helm", labelInstance: "web"}
	if of := len(cacheOptions().ByObject); of != 6 {
		t.Errorf("the cache holds %d kinds", of)
	}
	for object, options := range cacheOptions().ByObject {
		if _, resource := object.(resource); resource {
			if options.Label != nil {
				t.Errorf("a %T needs the labels %s", object, options.Label)
			}
			continue
		}
		if options.Label == nil || !options.Label.Matches(made) || options.Label.Matches(others) {
			t.Errorf("the cache holds each %T with %v", object, options.Label)
		}
	}
}

func TestWhatIsUnknownToTheCacheIsKept(t *testing.T) {
	for _, options := range cacheOptions().ByObject {
		if kept, err := options.Transform("unknown"); kept != "unknown" || err != nil {
			t.Errorf("became %v, %v", kept, err)
		}
	}
}

// TestNothingIsReconciledWithoutAnEvent: what no watch tells the cache, a resync does not either, and ten thousand resources
// that are reconciled every so often keep a processor busy.
func TestNothingIsReconciledWithoutAnEvent(t *testing.T) {
	options := cacheOptions()
	if options.SyncPeriod != nil {
		t.Errorf("every resource is reconciled each %s", options.SyncPeriod)
	}
	for object, options := range options.ByObject {
		if options.SyncPeriod != nil {
			t.Errorf("each %T is each %s", object, options.SyncPeriod)
		}
	}
}
