package explore

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

func observed(apiVersion, kind string, generation int64, status map[string]any) unstructured.Unstructured {
	object := unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	object.SetGeneration(generation)
	if status != nil {
		object.Object["status"] = status
	}
	return object
}

func TestASpecThatItsControllerHasNotObservedIsUnderway(t *testing.T) {
	at := func(generation int64) map[string]any { return map[string]any{"observedGeneration": generation} }
	deleting := observed("apps/v1", "Deployment", 2, at(1))
	deleting.SetDeletionTimestamp(new(metav1.Now()))
	for name, test := range map[string]struct {
		object unstructured.Unstructured
		want   bool
	}{
		"a Deployment":             {observed("apps/v1", "Deployment", 2, at(1)), true},
		"a ReplicaSet":             {observed("apps/v1", "ReplicaSet", 2, at(1)), true},
		"a StatefulSet":            {observed("apps/v1", "StatefulSet", 2, at(1)), true},
		"a DaemonSet":              {observed("apps/v1", "DaemonSet", 2, at(1)), true},
		"one that is new":          {observed("apps/v1", "Deployment", 1, nil), true},
		"one that is observed":     {observed("apps/v1", "Deployment", 2, at(2)), false},
		"one that is deleted":      {deleting, false},
		"a resource":               {observed("example.com/v1", "Deployment", 2, at(1)), false},
		"one that nobody observes": {observed("policy/v1", "PodDisruptionBudget", 2, at(1)), false},
	} {
		if got := isUnderway([]unstructured.Unstructured{observed("apps/v1", "Deployment", 1, at(1)), test.object}); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if isUnderway(nil) {
		t.Error("nothing is")
	}
}

// scaledBy has the watch of Deployments deliver one whose controller observes it after a while, or never.
func scaledBy(controller time.Duration) scenario.Step {
	return scenario.Step{Name: "Scale", IsAction: true, Run: func(_ context.Context, env *scenario.Env) error {
		deliver := func(resourceVersion string, observedGeneration int64) {
			web := observed("apps/v1", "Deployment", 2, map[string]any{"observedGeneration": observedGeneration})
			web.SetName("web")
			web.SetNamespace(env.Namespace)
			web.SetUID("1")
			web.SetResourceVersion(resourceVersion)
			env.History.Record(record.ObjectVersion{Unstructured: &web, Time: time.Now()})
		}
		deliver("1000000", 1)
		if controller > 0 {
			time.AfterFunc(controller, func() { deliver("1000001", 2) })
		}
		return nil
	}}
}

func TestAConvergenceWaitsForTheControllersOfApps(t *testing.T) {
	t.Parallel()
	const soon = 3 * time.Second // the operator is idle, and nothing has changed for long by then
	for name, test := range map[string]struct{ observedAfter, atLeast, atMost time.Duration }{
		"that observe": {soon, soon, underwayBound},
		"to no avail":  {0, underwayBound, 3 * underwayBound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}))
			var scaled, ended time.Time
			scale, last := scaledBy(test.observedAfter), converged
			run := scale.Run
			scale.Run = func(ctx context.Context, env *scenario.Env) error {
				scaled = time.Now()
				return run(ctx, env)
			}
			last.Run = func(ctx context.Context, env *scenario.Env) error {
				defer func() { ended = time.Now() }()
				return converged.Run(ctx, env)
			}
			_, err := explorer.Observe(t.Context(), story("copier/scale", write("A"), converged, scale, last))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ended.Sub(scaled)).To(And(BeNumerically(">=", test.atLeast), BeNumerically("<", test.atMost)))
		})
	}
}
