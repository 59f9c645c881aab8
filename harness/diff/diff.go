// Package diff compares two states of an object.
package diff

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// YAML returns an object as YAML, without managedFields.
func YAML(object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object)
	return string(text), err
}

// Unified returns the unified diff of two texts, or an empty string if they are equal.
func Unified(fromName, toName, from, to string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        slices.Collect(strings.Lines(from)),
		B:        slices.Collect(strings.Lines(to)),
		FromFile: fromName,
		ToFile:   toName,
		Context:  3,
	})
	if err != nil {
		return err.Error() // cannot happen: writing to a strings.Builder never fails
	}
	return text
}
