package scenarios

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestStatusOfEveryKindIsJudged(t *testing.T) {
	kinds := sets.New[string]()
	for _, s := range All() {
		kinds.Insert(s.Subject.Kind)
	}
	for kind := range kinds {
		ahead := version(kind, "sample", "", false)
		ahead.SetGeneration(1)
		ahead.Object["status"] = map[string]any{"observedGeneration": int64(2)}
		for name, judge := range map[string]func([]record.ObjectVersion) error{"StatusIsAccurate": StatusIsAccurate, "StatusIsConsistent": StatusIsConsistent} {
			err := judge([]record.ObjectVersion{ahead})
			if err == nil || !strings.Contains(err.Error(), "observedGeneration 2 exceeds generation 1") {
				t.Errorf("%s of a %s with observedGeneration 2 and generation 1: got %v, want an error", name, kind, err)
			}
		}
	}
}

func TestStatusMustNotForgetPods(t *testing.T) {
	type event func(*podHistory) error
	created := func(name string) event {
		return func(h *podHistory) error { return h.add(podVersion(name, false)) }
	}
	deleted := func(name string) event { return func(h *podHistory) error { return h.add(podVersion(name, true)) } }
	reported := func(names ...string) event {
		return func(h *podHistory) error { return h.observed(Observed{Status: workload.Status{Nodes: names}}) }
	}
	recreated := func(h *podHistory) error { h.reset(); return nil }
	observed := func(v record.ObjectVersion) event { return func(h *podHistory) error { return h.add(v) } }
	ownerChanged := observed(version("Deployment", "web", "somebody", false))
	for name, test := range map[string]struct {
		history   []event
		wantError bool
	}{
		"no Pods, before the first Pod":                      {[]event{reported(), created("a")}, false},
		"no Pods, shortly after the first Pod":               {[]event{created("a"), reported(), reported("a")}, false},
		"no Pods, while the reported Pod exists":             {[]event{created("a"), reported("a"), reported()}, true},
		"no Pods, while one of the reported Pods exists":     {[]event{created("a"), created("b"), reported("a", "b"), deleted("a"), reported()}, true},
		"no Pods, after the deletion of the reported Pod":    {[]event{created("a"), reported("a"), deleted("a"), reported()}, false},
		"no Pods, after the replacement of the reported Pod": {[]event{created("a"), reported("a"), deleted("a"), created("b"), reported()}, false},
		"no Pods, after a late report of a deleted Pod":      {[]event{created("a"), deleted("a"), created("b"), reported("a"), reported()}, false},
		"no Pods, for the second time":                       {[]event{created("a"), reported(), reported("a"), reported()}, true},
		"no Pods, after the Deployment got another owner":    {[]event{created("a"), reported("a"), ownerChanged, reported()}, false},
		"no Pods, while only another Deployment has Pods": {[]event{
			created("a"), reported("a"), observed(version("Deployment", "web-2", "resource", false)), observed(version("ReplicaSet", "web-2-1", "web-2", false)),
			observed(version("Pod", "b", "web-2-1", false)), deleted("a"), observed(version("Deployment", "web", "resource", true)), reported()}, true},
		"no Pods, after the resource was created again": {[]event{created("a"), reported("a"), recreated, reported(), deleted("a")}, false},
		"no Pods, before an earlier Pod": {[]event{
			created("a"), reported("a"), deleted("a"), created("b"), reported(), reported("a"), reported("b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			history := newPodHistory()
			history.owner = "resource"
			for _, version := range chain() {
				if err := history.add(version); err != nil {
					t.Fatal(err)
				}
			}
			var got error
			for _, next := range test.history {
				if err := next(history); err != nil {
					got = err
				}
			}
			if (got != nil) != test.wantError {
				t.Errorf("got %v, want an error: %t", got, test.wantError)
			}
		})
	}
}

// On a busy machine, the operator's watch of Pods may be ahead of its watch of Deployments.
func TestStatusMayReportPodsOfADeletedDeployment(t *testing.T) {
	gone := version("Deployment", "web", "resource", true)
	for name, test := range map[string]struct {
		history   []record.ObjectVersion
		reported  []string
		wantError bool
	}{
		"one Pod was created later":           {[]record.ObjectVersion{podVersion("a", false), gone, podVersion("b", false)}, []string{"a", "b"}, false},
		"both Pods were created later":        {[]record.ObjectVersion{gone, podVersion("a", false), podVersion("b", false)}, []string{"a", "b"}, false},
		"one Pod never existed":               {[]record.ObjectVersion{gone, podVersion("a", false)}, []string{"a", "b"}, true},
		"one Pod was deleted earlier":         {[]record.ObjectVersion{podVersion("a", false), gone, podVersion("a", true), podVersion("b", false)}, []string{"a", "b"}, true},
		"the Pods belong to two Deployments":  {[]record.ObjectVersion{gone, podVersion("a", false), version("Deployment", "web-2", "resource", false), version("ReplicaSet", "web-2-1", "web-2", false), version("Pod", "b", "web-2-1", false)}, []string{"a", "b"}, true},
		"the Pod belongs to another resource": {[]record.ObjectVersion{version("Deployment", "web", "somebody", true), podVersion("a", false)}, []string{"a"}, true},
	} {
		history := newPodHistory()
		history.owner = "resource"
		for _, version := range append(chain(), test.history...) {
			if err := history.add(version); err != nil {
				t.Fatal(err)
			}
		}
		if err := history.observed(Observed{Status: workload.Status{Nodes: test.reported}}); (err != nil) != test.wantError {
			t.Errorf("%s: got %v, want an error: %t", name, err, test.wantError)
		}
		if err := history.observed(Observed{}); err != nil && !test.wantError {
			t.Errorf("%s: got %v for a later status without Pods, want no error", name, err)
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

// version returns a version of an object whose UID is its name.
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

func TestCompleteWebServerHasANodePort(t *testing.T) {
	for port, wantError := range map[int32]bool{0: true, 31000: false} {
		object := &unstructured.Unstructured{Object: map[string]any{"kind": "WebServer", "spec": map[string]any{"replicas": int64(0)}}}
		s := Observed{Unstructured: object, NodePort: port, Status: workload.Status{Selector: "a=b"}}
		for _, conditionType := range []string{workload.Available, workload.Progressing, workload.Degraded} {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Message: "message"})
		}
		if err := s.selfConsistent(); (err != nil) != wantError {
			t.Errorf("node port %d: got %v, want an error: %t", port, err, wantError)
		}
	}
}
