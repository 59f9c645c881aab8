package invent

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/project"
)

func TestScenarioPrefixesAreUnique(t *testing.T) {
	g := NewWithT(t)
	sample := func(kind, name string) project.Sample {
		resource := &unstructured.Unstructured{}
		resource.SetKind(kind)
		resource.SetName(name)
		return project.Sample{Resource: resource}
	}
	samples := []project.Sample{sample("Web", "a"), sample("Cache", "a"), sample("Web", "a"), sample("Web", "b"), sample("Web", "a"), sample("Web", "a-2")}
	g.Expect(prefixes(samples)).To(Equal([]string{"web-a", "cache", "web-a-2", "web-b", "web-a-3", "web-a-2-2"}))
}

func TestSampleToConvertIsNotRefused(t *testing.T) {
	toConvert := apierrors.NewInternalError(errors.New("conversion webhook for apps.example.com/v1beta3, Kind=Plugin failed: no operator is running that can convert the object"))
	for err, want := range map[error]bool{nil: false, toConvert: false, apierrors.NewBadRequest("a"): true} {
		if _, got := errors.AsType[RefusedError](refusal(err)); got != want {
			t.Errorf("%v: got refused %t, want %t", err, got, want)
		}
	}
}
