package explore_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/record"
)

const (
	// stableFor is for how long nothing may change for an end to be one: more than the operator gathers
	// changes for.
	stableFor = 500 * time.Millisecond
	// maxParallel is how many resources are on their way at a time. They wait about as long as they compute.
	maxParallel = 12
	// sharedTimeout is how long something may take that the operator does for so many at once.
	sharedTimeout = 2 * stepTimeout
)

// transitionTest is where resources are changed, with the one operator that runs meanwhile.
type transitionTest struct {
	history *record.History
	oracles map[string]*oracle.TransitionOracle // by kind
}

func newTransitionTest(t *testing.T) *transitionTest {
	t.Helper()
	resources, err := record.NewResourceLister(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	history, err := resources.History(t.Context(), plane.Client)
	if err != nil {
		t.Fatal(err)
	}
	tt := &transitionTest{history: history, oracles: map[string]*oracle.TransitionOracle{}}
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
	startOperator(t, &record.Recorder{})
	return tt
}

// startOperator runs an operator for all namespaces until the test ends.
func startOperator(t *testing.T, asked *record.Recorder) {
	config := rest.CopyConfig(identity)
	config.Wrap(asked.Wrap)
	living, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runInstance(living, config, io.Discard) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// subtest is a subtest.
type subtest struct {
	name string
	run  func(*testing.T)
}

// run plays stories, many at once: more than -parallel allows, which is meant for what computes.
func runParallel(t *testing.T, stories []subtest) {
	places := make(chan struct{}, maxParallel)
	var playing sync.WaitGroup
	defer playing.Wait()
	for _, s := range stories {
		places <- struct{}{}
		playing.Go(func() {
			defer func() { <-places }()
			t.Run(s.name, s.run)
		})
	}
}

func (tt *transitionTest) newNamespace(t *testing.T) string {
	t.Helper()
	namespace, err := plane.CreateNamespace(t.Context(), "changed")
	if err != nil {
		t.Fatal(err)
	}
	return namespace
}

// checkAll brings the namespace's resource to one spec after the other, and each time it has to end as a
// oracles one does.
func (tt *transitionTest) checkAll(t *testing.T, s subject, namespace string, way ...map[string]any) {
	t.Helper()
	for _, spec := range way {
		if err := tt.oracles[s.Kind].Check(t.Context(), namespace, spec); err != nil {
			t.Fatalf("with the spec %v: %v", spec, err)
		}
	}
}

// apply gives the namespace's resource the spec, as its user does: what was applied before and is not any
// more, goes. It returns the generation that the resource has then.
func (tt *transitionTest) apply(ctx context.Context, s subject, namespace string, spec map[string]any) (int64, error) {
	object := s.in(namespace, spec)
	if err := ports.assign(object); err != nil {
		return 0, err
	}
	err := plane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("assay-user"))
	return object.GetGeneration(), err
}

// applyAndWait applies a spec and waits until the status says, of that spec, that all is done.
func (tt *transitionTest) applyAndWait(ctx context.Context, s subject, namespace string, spec map[string]any) error {
	generation, err := tt.apply(ctx, s, namespace, spec)
	if err != nil {
		return err
	}
	return tt.waitForReasons(ctx, s, namespace, generation, workload.ReasonComplete, workload.ReasonAsExpected)
}

// waitForReasons waits until Progressing and Degraded give these reasons, of the given generation. An empty one is any.
func (tt *transitionTest) waitForReasons(ctx context.Context, s subject, namespace string, generation int64, progressing, degraded string) error {
	waiting, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	for {
		changed, _ := tt.history.Changed(namespace)
		status, err := decodeStatus(tt.latest(s, namespace))
		if err != nil {
			return err
		}
		if status.ObservedGeneration >= generation &&
			hasReason(status.Conditions, workload.Progressing, progressing) && hasReason(status.Conditions, workload.Degraded, degraded) {
			return nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return fmt.Errorf("%s is not %s and %s after %s, but, observing generation %d of %d, %+v",
				s.Kind, progressing, degraded, sharedTimeout, status.ObservedGeneration, generation, status.Conditions)
		}
	}
}

// latest is the namespace's resource as it was last seen; empty when it was not seen yet.
func (tt *transitionTest) latest(s subject, namespace string) *unstructured.Unstructured {
	for _, object := range tt.history.Objects(namespace) {
		if object.GroupVersionKind() == s.GroupVersionKind {
			return &object
		}
	}
	return &unstructured.Unstructured{}
}

func decodeStatus(object *unstructured.Unstructured) (workload.Status, error) {
	read := struct {
		Status workload.Status `json:"status"`
	}{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read)
	return read.Status, err
}

func hasReason(conditions []metav1.Condition, kind, reason string) bool {
	condition := meta.FindStatusCondition(conditions, kind)
	return condition != nil && (reason == "" || condition.Reason == reason)
}
