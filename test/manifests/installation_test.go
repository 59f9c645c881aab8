// Package manifests tests the rendered kustomization without a cluster.
package manifests

import (
	"slices"
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

// Users refer to these objects in patches and bindings. If an object were renamed, an upgrade would leave the old
// object behind.
func TestNamesAreStable(t *testing.T) {
	want := []string{
		"apiextensions.k8s.io/v1 CustomResourceDefinition memcacheds.cache.example.com",
		"apiextensions.k8s.io/v1 CustomResourceDefinition webservers.my.domain",
		"apps/v1 Deployment assay-system/assay-controller-manager",
		"rbac.authorization.k8s.io/v1 ClusterRole assay-manager-role",
		"rbac.authorization.k8s.io/v1 ClusterRole assay-metrics-reader",
		"rbac.authorization.k8s.io/v1 ClusterRoleBinding assay-manager-rolebinding",
		"rbac.authorization.k8s.io/v1 Role assay-system/assay-manager-role",
		"rbac.authorization.k8s.io/v1 RoleBinding assay-system/assay-manager-rolebinding",
		"v1 Namespace assay-system",
		"v1 Service assay-system/assay-controller-manager-metrics-service",
		"v1 ServiceAccount assay-system/assay-controller-manager",
	}
	var got []string
	for _, object := range installation(t) {
		name := object.GetName()
		if object.GetNamespace() != "" {
			name = object.GetNamespace() + "/" + name
		}
		got = append(got, object.GetAPIVersion()+" "+object.GetKind()+" "+name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// kubectl get -l and dashboards select the objects by this label.
func TestObjectsHaveCommonLabel(t *testing.T) {
	for _, object := range installation(t) {
		if got := object.GetLabels()["app.kubernetes.io/name"]; got != "assay-operator" {
			t.Errorf("app.kubernetes.io/name of %s %s: got %q, want assay-operator", object.GetKind(), object.GetName(), got)
		}
	}
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
