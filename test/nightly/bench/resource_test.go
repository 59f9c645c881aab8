package bench

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

// inSync returns the state of a resource with two Pods and the right status.
func inSync() *resourceState {
	s := newResourceState()
	s.generation, s.replicas, s.deployment = 2, 2, "deployment"
	s.replicaSets["replicas"] = "deployment"
	s.pods["b"] = pod{replicaSet: "replicas", active: true, ready: true}
	s.pods["a"] = pod{replicaSet: "replicas", active: true, ready: true}
	s.status = workload.Status{
		ObservedGeneration: 2, Replicas: 2, ReadyReplicas: 2, Nodes: []string{"a", "b"},
		Conditions: []metav1.Condition{{Type: workload.Available, Status: metav1.ConditionTrue}},
	}
	return s
}

func TestState(t *testing.T) {
	for name, test := range map[string]struct {
		change              func(*resourceState)
		ready, right, clean bool
	}{
		"settled":                       {func(*resourceState) {}, true, true, true},
		"a Pod is not ready":            {func(s *resourceState) { s.pods["a"] = pod{replicaSet: "replicas", active: true} }, false, false, true},
		"a Pod too many":                {func(s *resourceState) { s.pods["c"] = s.pods["a"] }, false, false, true},
		"a Pod that terminates":         {func(s *resourceState) { s.pods["c"] = pod{replicaSet: "replicas", ready: true} }, true, true, false},
		"a Pod of an old Deployment":    {func(s *resourceState) { s.pods["c"] = pod{replicaSet: "old", active: true, ready: true} }, true, true, false},
		"an old ReplicaSet":             {func(s *resourceState) { s.replicaSets["old"] = "before" }, true, true, false},
		"no Deployment":                 {func(s *resourceState) { s.deployment = "" }, false, false, false},
		"another Deployment":            {func(s *resourceState) { s.deployment = "new" }, false, false, false},
		"an older generation":           {func(s *resourceState) { s.generation = 3 }, true, false, true},
		"a spec that is not the latest": {func(s *resourceState) { s.replicas = 1 }, true, false, true},
		"a wrong name":                  {func(s *resourceState) { s.status.Nodes = []string{"a", "c"} }, true, false, true},
		"an unsorted list":              {func(s *resourceState) { s.status.Nodes = []string{"b", "a"} }, true, false, true},
		"a wrong count":                 {func(s *resourceState) { s.status.ReadyReplicas = 1 }, true, false, true},
		"not Available":                 {func(s *resourceState) { s.status.Conditions[0].Status = metav1.ConditionFalse }, true, false, true},
		"no status":                     {func(s *resourceState) { s.status = workload.Status{} }, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := inSync()
			test.change(s)
			if ready := s.podsReady(2); ready != test.ready {
				t.Errorf("that the Pods are ready is %t", ready)
			}
			if right := s.statusRight(2); right != test.right {
				t.Errorf("that the status is right is %t", right)
			}
			if clean := s.clean(); clean != test.clean {
				t.Errorf("that nothing old is left is %t", clean)
			}
		})
	}
}

func TestPodsThatCount(t *testing.T) {
	ready := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	failed := ready
	failed.Phase = corev1.PodFailed
	for name, test := range map[string]struct {
		object corev1.Pod
		want   pod
	}{
		"ready":       {corev1.Pod{Status: ready}, pod{active: true, ready: true}},
		"pending":     {corev1.Pod{}, pod{active: true}},
		"failed":      {corev1.Pod{Status: failed}, pod{ready: true}},
		"terminating": {corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}, Status: ready}, pod{ready: true}},
	} {
		if found := podOf(&test.object, ""); found != test.want {
			t.Errorf("%s: it is %+v", name, found)
		}
	}
}

func TestTheObserverCountsMeasuredResources(t *testing.T) {
	o := &observer{replicas: 2, resources: map[types.NamespacedName]*resourceState{}}
	var notified []types.NamespacedName
	o.onReady = func(key types.NamespacedName) { notified = append(notified, key) }
	key := resourceKeys(1)[0]
	right := o.when(func() bool { return o.right == 1 })
	for _, k := range []types.NamespacedName{{Namespace: warmUp, Name: "a"}, key} {
		o.change(k, func(s *resourceState) { *s = *inSync() })
	}
	o.change(key, func(*resourceState) {})
	if o.ready != 1 || o.right != 1 {
		t.Errorf("of one measured resource, %d are ready and %d right", o.ready, o.right)
	}
	if at, err := o.await(t.Context(), "it is right", right); err != nil || at.IsZero() {
		t.Errorf("the wait ended at %s: %v", at, err)
	}
	o.expect(3)
	if o.ready != 0 || o.right != 0 {
		t.Errorf("with one Pod more to come, %d are ready and %d right", o.ready, o.right)
	}
	if len(notified) != 2 {
		t.Errorf("it was called for %v", notified)
	}
}
