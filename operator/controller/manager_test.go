package controller

import (
	"io/fs"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/operator/config"
)

// TestTheOperatorKnowsTheKindsThatItInstalls reads the CRDs, which are generated from markers and not from the scheme.
func TestTheOperatorKnowsTheKindsThatItInstalls(t *testing.T) {
	files, err := fs.Glob(config.CRDs, "crd/bases/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, file := range files {
		text, err := config.CRDs.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		version := schema.GroupVersion{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name}
		for _, kind := range []string{crd.Spec.Names.Kind, crd.Spec.Names.ListKind, metav1.WatchEventKind} {
			if gvk := version.WithKind(kind); !Scheme().Recognizes(gvk) {
				t.Errorf("%s is unknown", gvk)
			}
		}
		if gvk := version.WithKind(crd.Spec.Names.Kind); gvk != webServers.GroupVersionKind && gvk != memcacheds.GroupVersionKind {
			t.Errorf("%s has no controller", gvk)
		}
	}
}
