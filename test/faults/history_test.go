package faults

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/operator-assay/assay/test/harness/record"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/harness/oracle"
)

const (
	// calm is for how long nothing may change for an end to be one: more than the operator gathers
	// changes for.
	calm = 500 * time.Millisecond
	// atOnce is how many resources are on their way at a time. They wait about as long as they compute.
	atOnce = 12
	// shared is how long something may take that the operator does for so many at once.
	shared = 2 * patience
)

// history is where resources are changed, with the one operator that runs meanwhile.
type history struct {
	witness *record.History
	fresh   map[string]*oracle.TransitionOracle // by kind
}

func newHistory(t *testing.T) *history {
	t.Helper()
	inventory, err := record.NewResourceLister(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	witness, err := inventory.History(t.Context(), plane.Client)
	if err != nil {
		t.Fatal(err)
	}
	h := &history{witness: witness, fresh: map[string]*oracle.TransitionOracle{}}
	for _, s := range subjects {
		h.fresh[s.Kind] = &oracle.TransitionOracle{
			History:   witness,
			Namespace: func(ctx context.Context) (string, error) { return plane.CreateNamespace(ctx, "fresh") },
			Apply: func(ctx context.Context, namespace string, spec map[string]any) error {
				return h.reach(ctx, s, namespace, spec)
			},
			StableFor: calm,
		}
	}
	runOperator(t, &record.Recorder{})
	return h
}

// runOperator runs an operator for all namespaces until the test ends.
func runOperator(t *testing.T, asked *record.Recorder) {
	config := rest.CopyConfig(identity)
	config.Wrap(asked.Wrap)
	living, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- operate(living, config, io.Discard) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// story is a subtest.
type story struct {
	name string
	play func(*testing.T)
}

// play plays stories, many at once: more than -parallel allows, which is meant for what computes.
func play(t *testing.T, stories []story) {
	places := make(chan struct{}, atOnce)
	var playing sync.WaitGroup
	defer playing.Wait()
	for _, s := range stories {
		places <- struct{}{}
		playing.Go(func() {
			defer func() { <-places }()
			t.Run(s.name, s.play)
		})
	}
}

func (h *history) newNamespace(t *testing.T) string {
	t.Helper()
	namespace, err := plane.CreateNamespace(t.Context(), "changed")
	if err != nil {
		t.Fatal(err)
	}
	return namespace
}

// passes brings the namespace's resource to one spec after the other, and each time it has to end as a
// fresh one does.
func (h *history) passes(t *testing.T, s subject, namespace string, way ...map[string]any) {
	t.Helper()
	for _, spec := range way {
		if err := h.fresh[s.Kind].Check(t.Context(), namespace, spec); err != nil {
			t.Fatalf("with the spec %v: %v", spec, err)
		}
	}
}

// apply gives the namespace's resource the spec, as its user does: what was applied before and is not any
// more, goes. It returns the generation that the resource has then.
func (h *history) apply(ctx context.Context, s subject, namespace string, spec map[string]any) (int64, error) {
	object := s.in(namespace, spec)
	if err := ports.assign(object); err != nil {
		return 0, err
	}
	err := plane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("assay-user"))
	return object.GetGeneration(), err
}

// reach applies a spec and waits until the status says, of that spec, that all is done.
func (h *history) reach(ctx context.Context, s subject, namespace string, spec map[string]any) error {
	generation, err := h.apply(ctx, s, namespace, spec)
	if err != nil {
		return err
	}
	return h.await(ctx, s, namespace, generation, workload.ReasonComplete, workload.ReasonAsExpected)
}

// await waits until Progressing and Degraded give these reasons, of the given generation. An empty one is any.
func (h *history) await(ctx context.Context, s subject, namespace string, generation int64, progressing, degraded string) error {
	waiting, cancel := context.WithTimeout(ctx, shared)
	defer cancel()
	for {
		changed, _ := h.witness.Changed(namespace)
		status, err := statusOf(h.latest(s, namespace))
		if err != nil {
			return err
		}
		if status.ObservedGeneration >= generation &&
			gives(status.Conditions, workload.Progressing, progressing) && gives(status.Conditions, workload.Degraded, degraded) {
			return nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return fmt.Errorf("%s is not %s and %s after %s, but, observing generation %d of %d, %+v",
				s.Kind, progressing, degraded, shared, status.ObservedGeneration, generation, status.Conditions)
		}
	}
}

// latest is the namespace's resource as it was last seen; empty when it was not seen yet.
func (h *history) latest(s subject, namespace string) *unstructured.Unstructured {
	for _, object := range h.witness.Objects(namespace) {
		if object.GroupVersionKind() == s.GroupVersionKind {
			return &object
		}
	}
	return &unstructured.Unstructured{}
}

func statusOf(object *unstructured.Unstructured) (workload.Status, error) {
	read := struct {
		Status workload.Status `json:"status"`
	}{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read)
	return read.Status, err
}

func gives(conditions []metav1.Condition, kind, reason string) bool {
	condition := meta.FindStatusCondition(conditions, kind)
	return condition != nil && (reason == "" || condition.Reason == reason)
}
