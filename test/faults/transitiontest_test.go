package faults_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/wait"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/scenarios"
)

// firstNodePort is the first port of the range that the API server reserves for Services that request a specific port.
// It allocates these ports automatically only if all others are in use.
const firstNodePort = 30000

// transitionTest tests transitions with one operator that watches all namespaces.
type transitionTest struct {
	history *record.History
	oracles map[string]*oracle.TransitionOracle // by kind
	mu      sync.Mutex
	ports   map[string]int64 // the node ports by namespace and requested port
}

func newTransitionTest(t *testing.T) *transitionTest {
	t.Helper()
	resources, err := record.NewResourceLister(plane.Config)
	noError(t, err)
	history, err := resources.History(t.Context(), plane.Client)
	noError(t, err)
	tt := &transitionTest{history: history, oracles: map[string]*oracle.TransitionOracle{}, ports: map[string]int64{}}
	for _, s := range subjects {
		tt.oracles[s.Kind] = &oracle.TransitionOracle{
			History:   history,
			Namespace: func(ctx context.Context) (string, error) { return plane.CreateNamespace(ctx, "fresh") },
			Apply: func(ctx context.Context, namespace string, spec map[string]any) error {
				return tt.applyAndWait(ctx, s, namespace, spec)
			},
			StableFor: stableFor,
		}
	}
	startOperator(t, identity)
	return tt
}

// startOperator starts an operator. The operator runs until stop is called or the test ends.
func startOperator(t *testing.T, config *rest.Config) (stop func()) {
	living, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runInstance(living, "", config, io.Discard) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (tt *transitionTest) newNamespace(t *testing.T) string {
	t.Helper()
	namespace, err := plane.CreateNamespace(t.Context(), "changed")
	noError(t, err)
	return namespace
}

// checkAll applies the specs to a resource one by one, and compares each result with a fresh resource.
func (tt *transitionTest) checkAll(t *testing.T, s subject, namespace string, way ...map[string]any) {
	t.Helper()
	for _, spec := range way {
		if err := tt.oracles[s.Kind].Check(t.Context(), namespace, spec); err != nil {
			t.Fatalf("spec %v: %v", spec, err)
		}
	}
}

// apply applies the spec using server-side apply, which removes fields that are no longer in the spec. It returns the
// resource's generation.
func (tt *transitionTest) apply(ctx context.Context, s subject, namespace string, spec map[string]any) (int64, error) {
	object := s.subjectWith(namespace, spec)
	tt.assignNodePort(object)
	err := plane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(scenario.User))
	return object.GetGeneration(), err
}

// assignNodePort replaces a requested node port with a port that is unique in the cluster, because resources that are
// tested in parallel request the same ports. In each namespace, a requested port is always replaced with the same port.
func (tt *transitionTest) assignNodePort(object *unstructured.Unstructured) {
	requested, found, _ := unstructured.NestedInt64(object.Object, "spec", "nodePort")
	if !found {
		return
	}
	tt.mu.Lock()
	defer tt.mu.Unlock()
	key := fmt.Sprintf("%s %d", object.GetNamespace(), requested)
	if tt.ports[key] == 0 {
		tt.ports[key] = firstNodePort + int64(len(tt.ports))
	}
	utilruntime.Must(unstructured.SetNestedField(object.Object, tt.ports[key], "spec", "nodePort"))
}

func (tt *transitionTest) applyAndWait(ctx context.Context, s subject, namespace string, spec map[string]any) error {
	generation, err := tt.apply(ctx, s, namespace, spec)
	if err != nil {
		return err
	}
	return tt.waitForReasons(ctx, s, namespace, generation, workload.ReasonComplete, workload.ReasonAsExpected)
}

// waitForReasons waits until the status has at least the given observedGeneration, and the given reasons for
// Progressing and Degraded. An empty reason matches any reason.
func (tt *transitionTest) waitForReasons(ctx context.Context, s subject, namespace string, generation int64, progressing, degraded string) error {
	return tt.history.WaitFor(ctx, namespace, sharedTimeout, func(context.Context) error {
		return checkReasons(tt.latest(s, namespace), generation, progressing, degraded)
	})
}

func checkReasons(resource *unstructured.Unstructured, generation int64, progressing, degraded string) error {
	status, err := scenarios.Observe(resource)
	if err != nil {
		return wait.Stop(err)
	}
	if status.ObservedGeneration >= generation &&
		hasReason(status.Conditions, workload.Progressing, progressing) && hasReason(status.Conditions, workload.Degraded, degraded) {
		return nil
	}
	return fmt.Errorf("%s %s: want reasons %s and %s, got (observed generation %d of %d) %+v",
		resource.GetKind(), resource.GetName(), progressing, degraded, status.ObservedGeneration, generation, status.Conditions)
}

// waitComplete waits until the namespace contains the given number of resources and the operator reports that all their
// specs are applied.
func waitComplete(ctx context.Context, history *record.History, namespace string, resources int) error {
	return history.WaitFor(ctx, namespace, sharedTimeout, func(context.Context) error {
		found := 0
		for _, object := range history.Objects(namespace) {
			if object.GroupVersionKind() != subjects[0].GroupVersionKind && object.GroupVersionKind() != subjects[1].GroupVersionKind {
				continue
			}
			if err := checkReasons(&object, object.GetGeneration(), workload.ReasonComplete, workload.ReasonAsExpected); err != nil {
				return err
			}
			found++
		}
		if found != resources {
			return fmt.Errorf("got %d resources, want %d", found, resources)
		}
		return nil
	})
}

// latest returns the last observed version of the resource in the namespace. It returns an empty object if the resource
// has not been observed yet.
func (tt *transitionTest) latest(s subject, namespace string) *unstructured.Unstructured {
	for _, object := range tt.history.Objects(namespace) {
		if object.GroupVersionKind() == s.GroupVersionKind {
			return &object
		}
	}
	return &unstructured.Unstructured{}
}

func hasReason(conditions []metav1.Condition, kind, reason string) bool {
	condition := meta.FindStatusCondition(conditions, kind)
	return condition != nil && (reason == "" || condition.Reason == reason)
}
