package faults_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// waitObserved waits until the history contains all objects that currently exist in the walk's namespace, and the
// deletions of all others. Each kind has a separate watch, which may lag on a busy machine, so a status could otherwise
// be checked before the Pods that it reports have been observed.
func (w *walk) waitObserved(ctx context.Context) error {
	for _, kind := range walkKinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := plane.Client.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		err := w.history.WaitFor(ctx, w.namespace, walkTimeout, func(ctx context.Context) error {
			err := w.missing(kind, list)
			if tell, asked := ctx.Value(onMissing{}).(func()); asked && err != nil {
				tell()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) missing(kind schema.GroupVersionKind, list *unstructured.UnstructuredList) error {
	s, exists := observe(w.history.Versions(w.namespace)), map[string]bool{}
	for _, object := range list.Items {
		exists[string(object.GetUID())] = true
		if s.versions[object.GetUID()] < number(object.GetResourceVersion()) {
			return fmt.Errorf("no watch has delivered %s %s at %s yet", kind.Kind, object.GetName(), object.GetResourceVersion())
		}
	}
	for uid, object := range s.byUID {
		isOld := object.GetKind() == kind.Kind && s.versions[uid] <= number(list.GetResourceVersion())
		if isOld && !exists[string(uid)] {
			return fmt.Errorf("no watch has delivered the deletion of %s %s yet", kind.Kind, object.GetName())
		}
	}
	return nil
}

// onMissing is the context key of a function that waitObserved calls whenever the history is incomplete. A test uses
// it to end the wait, regardless of how long the preceding lists take.
type onMissing struct{}

// untilMissing returns a context that is cancelled when waitObserved finds that the history is incomplete.
func untilMissing(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	return context.WithValue(ctx, onMissing{}, func() { end() })
}

// TestChecksWaitForWatches uses watches that never deliver any of the namespace's objects.
func TestChecksWaitForWatches(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, err := plane.CreateNamespace(ctx, "walk")
	g.Expect(err).NotTo(HaveOccurred())
	live, stalled := newWalkHistory(t), newHistoryIn(t, metav1.NamespaceDefault)
	wait := func(ctx context.Context, history *record.History) error {
		return newWalk(ctx, namespace, history, stepTimeout).waitObserved(ctx)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	g.Expect(plane.Client.Create(ctx, service)).To(Succeed())
	g.Expect(wait(ctx, live)).To(Succeed())
	seen := observe(live.Versions(namespace)).byName["Service/web"]
	g.Expect(seen).NotTo(BeNil())
	g.Expect(wait(untilMissing(ctx), stalled)).To(MatchError(ContainSubstring("no watch has delivered Service web at " + service.ResourceVersion)))
	g.Expect(newWalk(untilMissing(ctx), namespace, stalled, stepTimeout).checkInvariants()).To(MatchError(ContainSubstring("no watch has delivered Service web at ")))
	stalled.Record(record.ObjectVersion{Unstructured: seen, Time: time.Now()})
	g.Expect(wait(ctx, stalled)).To(Succeed())

	g.Expect(plane.Client.Delete(ctx, service)).To(Succeed())
	g.Expect(wait(ctx, live)).To(Succeed())
	g.Expect(observe(live.Versions(namespace)).byName).NotTo(HaveKey("Service/web"))
	g.Expect(wait(untilMissing(ctx), stalled)).To(MatchError(ContainSubstring("no watch has delivered the deletion of Service web")))
}
