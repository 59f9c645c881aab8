package scenarios

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestAStatusMayTellOfNoPodsOnlyWhileThereAreNone(t *testing.T) {
	type happening func(*podHistory) error
	comes := func(name string) happening {
		return func(h *podHistory) error { return h.add(podVersion(name, false)) }
	}
	goes := func(name string) happening { return func(h *podHistory) error { return h.add(podVersion(name, true)) } }
	told := func(names ...string) happening {
		return func(h *podHistory) error { return h.observed(Observed{Status: workload.Status{Nodes: names}}) }
	}
	recreated := func(h *podHistory) error { h.reset(); return nil }
	happens := func(v record.ObjectVersion) happening { return func(h *podHistory) error { return h.add(v) } }
	isTaken := happens(version("Deployment", "web", "somebody", false))
	for name, test := range map[string]struct {
		history []happening
		lie     bool
	}{
		"before the first":                   {[]happening{told(), comes("a")}, false},
		"late, when the first has come":      {[]happening{comes("a"), told(), told("a")}, false},
		"while those it told of live":        {[]happening{comes("a"), told("a"), told()}, true},
		"while one of them lives":            {[]happening{comes("a"), comes("b"), told("a", "b"), goes("a"), told()}, true},
		"when they are gone":                 {[]happening{comes("a"), told("a"), goes("a"), told()}, false},
		"late, when others have come":        {[]happening{comes("a"), told("a"), goes("a"), comes("b"), told()}, false},
		"of what it told late":               {[]happening{comes("a"), goes("a"), comes("b"), told("a"), told()}, false},
		"once more":                          {[]happening{comes("a"), told(), told("a"), told()}, true},
		"when their Deployment is another's": {[]happening{comes("a"), told("a"), isTaken, told()}, false},
		"when only those of a Deployment that is gone are": {[]happening{
			comes("a"), told("a"), happens(version("Deployment", "web-2", "resource", false)), happens(version("ReplicaSet", "web-2-1", "web-2", false)),
			happens(version("Pod", "b", "web-2-1", false)), goes("a"), happens(version("Deployment", "web", "resource", true)), told()}, true},
		"of a resource that has come again": {[]happening{comes("a"), told("a"), recreated, told(), goes("a")}, false},
		"before it tells of what was earlier": {[]happening{
			comes("a"), told("a"), goes("a"), comes("b"), told(), told("a"), told("b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			history := newPodHistory()
			history.owner = "resource"
			for _, version := range chain() {
				if err := history.add(version); err != nil {
					t.Fatal(err)
				}
			}
			var lie error
			for _, next := range test.history {
				if err := next(history); err != nil {
					lie = err
				}
			}
			if (lie != nil) != test.lie {
				t.Errorf("got %v", lie)
			}
		})
	}
}

// On a busy machine, the operator's watch of Pods may be ahead of its watch of Deployments.
func TestAStatusMayTellOfPodsThatCameWhenTheirDeploymentWasGone(t *testing.T) {
	gone := version("Deployment", "web", "resource", true)
	for name, test := range map[string]struct {
		history []record.ObjectVersion
		told    []string
		lie     bool
	}{
		"one that came later":       {[]record.ObjectVersion{podVersion("a", false), gone, podVersion("b", false)}, []string{"a", "b"}, false},
		"all that came later":       {[]record.ObjectVersion{gone, podVersion("a", false), podVersion("b", false)}, []string{"a", "b"}, false},
		"one that never came":       {[]record.ObjectVersion{gone, podVersion("a", false)}, []string{"a", "b"}, true},
		"one that had gone":         {[]record.ObjectVersion{podVersion("a", false), gone, podVersion("a", true), podVersion("b", false)}, []string{"a", "b"}, true},
		"those of two Deployments":  {[]record.ObjectVersion{gone, podVersion("a", false), version("Deployment", "web-2", "resource", false), version("ReplicaSet", "web-2-1", "web-2", false), version("Pod", "b", "web-2-1", false)}, []string{"a", "b"}, true},
		"those of another resource": {[]record.ObjectVersion{version("Deployment", "web", "somebody", true), podVersion("a", false)}, []string{"a"}, true},
	} {
		history := newPodHistory()
		history.owner = "resource"
		for _, version := range append(chain(), test.history...) {
			if err := history.add(version); err != nil {
				t.Fatal(err)
			}
		}
		if lie := history.observed(Observed{Status: workload.Status{Nodes: test.told}}); (lie != nil) != test.lie {
			t.Errorf("%s: got %v", name, lie)
		}
		if lie := history.observed(Observed{}); lie != nil && !test.lie {
			t.Errorf("%s: and then that there are none: %v", name, lie)
		}
	}
}

// chain returns a Deployment and its ReplicaSet.
func chain() []record.ObjectVersion {
	return []record.ObjectVersion{version("Deployment", "web", "resource", false), version("ReplicaSet", "web-1", "web", false)}
}

func podVersion(name string, deleted bool) record.ObjectVersion {
	return version("Pod", name, "web-1", deleted)
}

// version returns a version of an object. The UID of the object equals its name.
func version(kind, name, owner string, deleted bool) record.ObjectVersion {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	object.SetName(name)
	object.SetUID(types.UID(name))
	if owner != "" {
		object.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(owner), Controller: new(true)}})
	}
	return record.ObjectVersion{Unstructured: object, Deleted: deleted}
}

func TestConditionsMatchTheObservedGeneration(t *testing.T) {
	for name, test := range map[string]struct {
		available, degraded int64
		progressing         metav1.ConditionStatus
		wantError           bool
	}{
		"all conditions are current":                        {2, 2, metav1.ConditionFalse, false},
		"Degraded is older while the spec is applied":       {2, 1, metav1.ConditionTrue, false},
		"Degraded is older although nothing is progressing": {2, 1, metav1.ConditionFalse, true},
		"Available is older":                                {1, 2, metav1.ConditionTrue, true},
	} {
		t.Run(name, func(t *testing.T) {
			condition := func(kind string, status metav1.ConditionStatus, generation int64) metav1.Condition {
				return metav1.Condition{Type: kind, Status: status, ObservedGeneration: generation, Message: "message"}
			}
			object := &unstructured.Unstructured{Object: map[string]any{"kind": "Memcached", "spec": map[string]any{"size": int64(0)}}}
			object.SetGeneration(2)
			s := Observed{Unstructured: object, Status: workload.Status{ObservedGeneration: 2, Selector: "a=b", Conditions: []metav1.Condition{
				condition(workload.Available, metav1.ConditionFalse, test.available), condition(workload.Progressing, test.progressing, 2),
				condition(workload.Degraded, metav1.ConditionFalse, test.degraded)}}}
			if err := s.selfConsistent(); (err != nil) != test.wantError {
				t.Errorf("got %v, want an error: %t", err, test.wantError)
			}
		})
	}
}
