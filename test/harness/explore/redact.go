package explore

import (
	"encoding/base64"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/test/harness/record"
)

const (
	secretKind = "Secret"
	// hidden stands for a value of a Secret.
	hidden = "<value of a Secret>"
	// shortestSecret is the length of the shortest value that is hidden in texts. A shorter one would also be found where
	// it is something else.
	shortestSecret = 4
)

// redactor replaces the values of Secrets in texts: results are kept, uploaded and shown to others.
type redactor struct{ values []string }

// newRedactor collects the values of the Secrets of a history, encoded and decoded.
func newRedactor(history []record.ObjectVersion) redactor {
	var r redactor
	for _, version := range history {
		if version.GetKind() != secretKind {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(version.Object, "data")
		for _, encoded := range data {
			r.values = append(r.values, encoded)
			if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
				r.values = append(r.values, strings.TrimSpace(string(decoded)))
			}
		}
	}
	return r.and(redactor{})
}

// and returns a redactor that replaces the values of both, the longest first.
func (r redactor) and(other redactor) redactor {
	all := slices.DeleteFunc(slices.Concat(r.values, other.values), func(value string) bool { return len(value) < shortestSecret })
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return redactor{slices.Compact(all)}
}

// text replaces the values in a text.
func (r redactor) text(text string) string {
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, hidden)
	}
	return text
}
