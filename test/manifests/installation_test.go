// Package manifests tests the rendered kustomization without a cluster.
package manifests

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-assay/assay/harness/project"
)

var render = sync.OnceValues(func() ([]unstructured.Unstructured, error) { return project.Render("../../operator/config/default") })

// installation returns the objects that `make deploy` applies.
func installation(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	objects, err := render()
	noError(t, err)
	return objects
}

func installed[T any](t *testing.T, kind string) []*T {
	t.Helper()
	var found []*T
	for _, object := range installation(t) {
		if object.GetKind() != kind {
			continue
		}
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
			t.Fatalf("%s %s: %v", kind, object.GetName(), err)
		}
		found = append(found, typed)
	}
	return found
}

func theOnly[T any](t *testing.T, kind string) *T {
	t.Helper()
	found := installed[T](t, kind)
	if len(found) != 1 {
		t.Fatalf("got %d objects of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// pod returns the operator's Pod template and its only container.
func pod(t *testing.T) (corev1.PodTemplateSpec, corev1.Container) {
	t.Helper()
	template := deployment(t).Spec.Template
	if len(template.Spec.Containers) != 1 {
		t.Fatalf("got %d containers, want 1", len(template.Spec.Containers))
	}
	return template, template.Spec.Containers[0]
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
