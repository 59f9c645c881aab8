package manifests

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/test/harness/project"
)

// TestAnAPIServerTakesTheCRDs has its own code validate them: that rules compile and cost little enough, and defaults are valid.
func TestAnAPIServerTakesTheCRDs(t *testing.T) {
	for name := range contracts {
		crd, internal := served(t, name).crd, &apiextensions.CustomResourceDefinition{}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
			t.Fatal(err)
		}
		if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), internal); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

// TestKubectlFindsTheKindsByTheirNames: manifests, scripts and the URLs of clients have them.
func TestKubectlFindsTheKindsByTheirNames(t *testing.T) {
	for name, want := range map[string]struct {
		group, version string
		names          apiextensionsv1.CustomResourceDefinitionNames
	}{
		"WebServer": {"my.domain", "v1", apiextensionsv1.CustomResourceDefinitionNames{Kind: "WebServer", ListKind: "WebServerList",
			Plural: "webservers", Singular: "webserver", ShortNames: []string{"ws"}, Categories: []string{"all"}}},
		"Memcached": {"cache.example.com", "v1alpha1", apiextensionsv1.CustomResourceDefinitionNames{Kind: "Memcached", ListKind: "MemcachedList",
			Plural: "memcacheds", Singular: "memcached", ShortNames: []string{"mc"}, Categories: []string{"all"}}},
	} {
		k := served(t, name)
		if k.crd.Spec.Group != want.group || k.version.Name != want.version || !k.version.Served || !k.version.Storage {
			t.Errorf("%s is served as %s, %+v", name, k.crd.Spec.Group, k.version.Name)
		}
		if !reflect.DeepEqual(k.crd.Spec.Names, want.names) {
			t.Errorf("%s has the names %+v", name, k.crd.Spec.Names)
		}
		if k.crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
			t.Errorf("a %s is of no namespace", name)
		}
	}
}

// sample is a resource that was created thirty hours ago, with a status.
func sample(t *testing.T, name string) map[string]any {
	t.Helper()
	created := time.Now().Add(-30 * time.Hour).UTC().Format(time.RFC3339)
	degraded := strings.NewReplacer("Available", "Degraded", "PodsReady", "AsExpected").Replace(condition)
	return edited(t, edited(t, parsed(t, contracts[name].valid), status),
		fmt.Sprintf(`{"metadata":{"creationTimestamp":%q},"status":{"nodePort":30001,"conditions":[%s,%s]}}`, created, condition, degraded))
}

// TestKubectlGetShowsWhatOneWantsToKnow has the columns, those of -o wide in brackets, and the cells.
func TestKubectlGetShowsWhatOneWantsToKnow(t *testing.T) {
	for name, want := range map[string]struct{ columns, cells string }{
		"WebServer": {"Name string, Desired integer, Ready integer, Available string, Node-Port integer, Image string, Age date, [Degraded string]",
			"edited 2 1 True 30001 nginx:1.23.1 30h AsExpected"},
		"Memcached": {"Name string, Size integer, Ready integer, Available string, Image string, Age date, [Degraded string]",
			"edited 2 1 True memcached:1.6.39-alpine 30h AsExpected"},
	} {
		converter, err := tableconvertor.New(served(t, name).version.AdditionalPrinterColumns)
		if err != nil {
			t.Fatal(err)
		}
		table, err := converter.ConvertToTable(t.Context(), &unstructured.Unstructured{Object: sample(t, name)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var columns, cells []string
		for i, column := range table.ColumnDefinitions {
			text, cell := column.Name+" "+column.Type, fmt.Sprint(table.Rows[0].Cells[i])
			if column.Priority > 0 {
				text = "[" + text + "]"
			}
			columns, cells = append(columns, text), append(cells, cell)
		}
		if got := strings.Join(columns, ", "); got != want.columns {
			t.Errorf("%s has the columns %s", name, got)
		}
		if got := strings.Join(cells, " "); got != want.cells {
			t.Errorf("%s has the cells %s", name, got)
		}
	}
}

// TestAnAutoscalerReadsAndWritesTheNumberOfPods: through the scale subresource, without knowing the kind.
func TestAnAutoscalerReadsAndWritesTheNumberOfPods(t *testing.T) {
	for name := range contracts {
		subresources := served(t, name).version.Subresources
		if subresources == nil || subresources.Status == nil {
			t.Fatalf("who may edit a %s may write its status", name)
		}
		scale, object := subresources.Scale, sample(t, name)
		if scale == nil || scale.LabelSelectorPath == nil {
			t.Fatalf("%s cannot be scaled by an autoscaler: %+v", name, scale)
		}
		for path, want := range map[string]any{scale.SpecReplicasPath: int64(2), scale.StatusReplicasPath: int64(2), *scale.LabelSelectorPath: "app=edited"} {
			if got, _, err := unstructured.NestedFieldNoCopy(object, strings.Split(strings.TrimPrefix(path, "."), ".")...); got != want || err != nil {
				t.Errorf("%s of %s is %v, want %v: %v", path, name, got, want, err)
			}
		}
	}
}

// TestTheSamplesAreWhatTheDocumentsShow: users begin with them, and find what they make by its name.
func TestTheSamplesAreWhatTheDocumentsShow(t *testing.T) {
	samples, err := project.Render("../../operator/config/samples")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"my.domain/v1 WebServer webserver-sample":               `{"spec":{"image":"nginx:1.23.1","replicas":3,"port":80}}`,
		"cache.example.com/v1alpha1 Memcached memcached-sample": `{"spec":{"image":"memcached:1.6.39-alpine","size":3}}`,
	}
	if len(samples) != len(want) {
		t.Errorf("there are %d samples", len(samples))
	}
	for _, object := range samples {
		name := object.GetAPIVersion() + " " + object.GetKind() + " " + object.GetName()
		if want[name] == "" {
			t.Errorf("nobody knows the sample %s", name)
			continue
		}
		if err := served(t, object.GetKind()).judge(object.Object, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(object.Object["spec"], parsed(t, want[name])["spec"]) {
			t.Errorf("%s asks for %v", name, object.Object["spec"])
		}
	}
}
