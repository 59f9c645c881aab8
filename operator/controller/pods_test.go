package controller

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestFailureOfContainer(t *testing.T) {
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "web", Image: "nginx:1", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "the reason"}}}
	}
	ended := func(code int32, then corev1.ContainerStatus) corev1.ContainerStatus {
		then.Name, then.LastTerminationState.Terminated = "web", &corev1.ContainerStateTerminated{ExitCode: code}
		return then
	}
	repeated := waiting("ImagePullBackOff")
	repeated.State.Waiting.Message = `Back-off pulling image "nginx:1": ErrImagePull: the reason`
	for name, test := range map[string]struct {
		container corev1.ContainerStatus
		want      string
	}{
		"the container is ready":                             {corev1.ContainerStatus{Ready: true}, ""},
		"the container is being created":                     {waiting("ContainerCreating"), ""},
		"the image cannot be pulled":                         {waiting("ErrImagePull"), "ImagePullBackOff: image nginx:1 cannot be pulled: the reason"},
		"the kubelet waits before it pulls the image again":  {repeated, "ImagePullBackOff: image nginx:1 cannot be pulled: the reason"},
		"the init containers are running":                    {waiting("PodInitializing"), ""},
		"the container waits without a reason":               {waiting(""), ""},
		"the container cannot be started":                    {waiting("RunContainerError"), "RunContainerError: the reason"},
		"the container crashed":                              {ended(3, corev1.ContainerStatus{}), "container web is not ready and last terminated with exit code 3"},
		"the kubelet waits before it restarts the container": {ended(3, waiting("CrashLoopBackOff")), "container web is not ready and last terminated with exit code 3"},
		"the container keeps ending without an error":        {ended(0, waiting("CrashLoopBackOff")), "container web is not ready and last terminated with exit code 0"},
		"the container crashed and is ready again":           {ended(3, corev1.ContainerStatus{Ready: true}), ""},
	} {
		if got := failureOf(test.container); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestFailingPods(t *testing.T) {
	scheduled := func(status corev1.ConditionStatus, reason string) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodScheduled, Status: status, Reason: reason, Message: "no node"}
	}
	failing := func(message string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: "one", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "RunContainerError", Message: message}}}}
	}
	pod := func(name string, status corev1.PodStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: status}
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}
	got := failingPods([]corev1.Pod{
		pod("a", corev1.PodStatus{Conditions: []corev1.PodCondition{ready, scheduled(corev1.ConditionFalse, corev1.PodReasonUnschedulable)}}),
		pod("b", corev1.PodStatus{Conditions: []corev1.PodCondition{scheduled(corev1.ConditionTrue, corev1.PodReasonUnschedulable)}}),
		pod("c", corev1.PodStatus{Conditions: []corev1.PodCondition{scheduled(corev1.ConditionFalse, corev1.PodReasonSchedulingGated)}}),
		pod("d", corev1.PodStatus{InitContainerStatuses: failing("denied"), ContainerStatuses: append([]corev1.ContainerStatus{{Name: "two"}}, failing("no memory")...)}),
	})
	want := []string{"Pod a: Unschedulable: no node", "Pod d: RunContainerError: denied", "Pod d: RunContainerError: no memory"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	many := slices.Repeat([]corev1.Pod{pod("e", corev1.PodStatus{ContainerStatuses: failing("denied")})}, maxFailing+1)
	if got, all := failingPods(many), failingPods(many[1:]); len(got) != 11 || got[maxFailing] != "and 1 more" || len(all) != maxFailing {
		t.Errorf("got %q for %d failures, and %q for %d, want at most %d and a count of the rest", got, maxFailing+1, all, maxFailing, maxFailing)
	}
}

func TestListErrorsAreReturned(t *testing.T) {
	broken := errors.New("no answer")
	owner, c := newDeployment()
	c.object.SetUID("uid-of-web")
	c.object.SetAnnotations(map[string]string{annotationOwner: string(owner.GetUID())})
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: "web-1", OwnerReferences: controllerReference(c.object)}}
	for _, unreadable := range []client.ObjectList{&metav1.PartialObjectMetadataList{}, &corev1.PodList{}} {
		reader := interceptor.NewClient(newFakeClient(t, set), interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if reflect.TypeOf(list) == reflect.TypeOf(unreadable) {
					return broken
				}
				return c.List(ctx, list, options...)
			}})
		r := newFakeReconciler(webServers, reader)
		if _, err := r.report(t.Context(), owner, []*child{c, c}); !errors.Is(err, broken) || !errors.Is(r.confirm(t.Context(), owner, []*child{c, c}), broken) {
			t.Errorf("unreadable %T: got %v, or another error from confirm", unreadable, err)
		}
	}
}

func TestActivePodsFollowsOwnerReferences(t *testing.T) {
	controlled := func(namespace, name, by string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name), Finalizers: []string{"example.com/kept"},
			OwnerReferences: []metav1.OwnerReference{{UID: types.UID("uid-of-" + by), Controller: new(true)}}}
	}
	pod := func(name, by string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: controlled("a", name, by), Status: corev1.PodStatus{Phase: phase}}
	}
	terminating := pod("terminating", "new", corev1.PodRunning)
	reader := newFakeClient(t,
		&appsv1.ReplicaSet{ObjectMeta: controlled("a", "new", "web")}, &appsv1.ReplicaSet{ObjectMeta: controlled("a", "old", "web")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("a", "others", "another")}, &appsv1.ReplicaSet{ObjectMeta: controlled("b", "elsewhere", "web")},
		pod("running", "new", corev1.PodRunning), pod("pending", "new", corev1.PodPending), pod("of-old", "old", corev1.PodRunning),
		pod("succeeded", "old", corev1.PodSucceeded), pod("failed", "old", corev1.PodFailed), terminating,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "stray"}}, pod("of-another-deployment", "others", corev1.PodRunning), pod("of-another-namespace", "elsewhere", corev1.PodRunning),
	)
	noError(t, reader.Delete(t.Context(), terminating))
	active, err := activePods(t.Context(), reader, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", UID: "uid-of-web"}})
	noError(t, err)
	var names []string
	for _, pod := range active {
		names = append(names, pod.Name)
	}
	if want := []string{"of-old", "pending", "running"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// The status lists at most MaxNodes Pods, but the counts include all Pods.
func TestStatusCountsPodsThatItDoesNotList(t *testing.T) {
	owner, c := newDeployment()
	deployment := c.object.(*appsv1.Deployment)
	deployment.UID, deployment.Annotations = "uid-of-web", map[string]string{annotationOwner: string(owner.GetUID())}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: "web-1", OwnerReferences: controllerReference(deployment)}}
	r := newFakeReconciler(memcacheds, interceptor.NewClient(newFakeClient(t, set), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if pods, ok := list.(*corev1.PodList); ok {
				pods.Items = make([]corev1.Pod, workload.MaxNodes+2)
				return nil
			}
			return c.List(ctx, list, options...)
		}}))
	noError(t, r.computeStatus(t.Context(), owner, []*child{c}, false))
	if status := owner.CommonStatus(); len(status.Nodes) != workload.MaxNodes || status.Replicas != workload.MaxNodes+2 {
		t.Errorf("got %d names and %d replicas, want %d and %d", len(status.Nodes), status.Replicas, workload.MaxNodes, workload.MaxNodes+2)
	}
}
