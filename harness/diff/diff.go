// Package diff shows how two states of an object differ.
package diff

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// YAML is an object as YAML, without managedFields.
func YAML(object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object)
	return string(text), err
}

// Unified is the unified diff of two texts, with three lines of context. It is empty when they are equal.
func Unified(fromName, toName, from, to string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        slices.Collect(strings.Lines(from)),
		B:        slices.Collect(strings.Lines(to)),
		FromFile: fromName,
		ToFile:   toName,
		Context:  3,
	})
	if err != nil {
		return err.Error() // a strings.Builder never fails, so this cannot happen
	}
	return text
}
