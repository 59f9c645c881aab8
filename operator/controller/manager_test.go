package controller

import (
	"io/fs"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/operator/config"
)

// The CRDs are generated from markers and the scheme is defined in code, so the two could get out of sync.
func TestSchemeMatchesTheCRDs(t *testing.T) {
	for _, crd := range installedKinds(t) {
		version := schema.GroupVersion{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name}
		for _, kind := range []string{crd.Spec.Names.Kind, crd.Spec.Names.ListKind, metav1.WatchEventKind} {
			if gvk := version.WithKind(kind); !Scheme().Recognizes(gvk) {
				t.Errorf("the scheme does not contain %s", gvk)
			}
		}
		if gvk := version.WithKind(crd.Spec.Names.Kind); gvk != webServers.GroupVersionKind && gvk != memcacheds.GroupVersionKind {
			t.Errorf("%s has no controller", gvk)
		}
	}
}

func installedKinds(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := fs.Glob(config.CRDs, "crd/bases/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q: %v", files, err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := config.CRDs.ReadFile(file)
		noError(t, err)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		noError(t, yaml.Unmarshal(text, crd))
		crds = append(crds, crd)
	}
	return crds
}

func TestStripRemovesUnreadFields(t *testing.T) {
	full := metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: Name}}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node"}}
	for _, object := range []client.Object{pod, &metav1.PartialObjectMetadata{ObjectMeta: full}, webServers.newResource()} {
		object.SetManagedFields(full.ManagedFields)
		if _, err := strip(object); err != nil || object.GetManagedFields() != nil || object.GetAnnotations() != nil {
			t.Errorf("got %+v, %v", object, err)
		}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: append(full.ManagedFields, metav1.ManagedFieldsEntry{Manager: "another"})}}
	if _, err := strip(service); err != nil || len(service.ManagedFields) != 1 || pod.Spec.NodeName != "" {
		t.Errorf("got %+v, %v, and Pod %+v", service, err, pod)
	}
}

func TestManagerOptions(t *testing.T) {
	given := &rest.Config{Host: "http://127.0.0.1:1", QPS: 5}
	manager, err := NewManager(given, ctrl.Options{
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { // needs no API server
			return testrestmapper.TestOnlyStaticRESTMapper(Scheme()), nil
		},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: crconfig.Controller{SkipNameValidation: new(true)}, // for -count=2
	})
	noError(t, err)
	if got := manager.GetControllerOptions(); got.MaxConcurrentReconciles != Workers || !*got.EnableWarmup {
		t.Errorf("got %+v, want %d workers, and caches that are filled before the replica is the leader", got, Workers)
	}
	if used := manager.GetConfig(); used.QPS >= 0 {
		t.Errorf("got a client-side limit of %v requests per second, want none", used.QPS)
	}
	// The timeout of an HTTP client also covers the response body, so it would interrupt every watch.
	if timeout := max(manager.GetConfig().Timeout, manager.GetHTTPClient().Timeout); timeout != 0 {
		t.Errorf("got a timeout of %s, want none", timeout)
	}
	if given.QPS != 5 {
		t.Errorf("the caller's configuration: got %+v, want it unchanged", given)
	}
}
