// Package redact removes Secret values from text, because results are stored, uploaded and shared.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

const (
	secretKind = "Secret"
	// Hidden replaces a value.
	Hidden = "<value of a Secret>"
	// shortestSecret is the minimum length of a redacted value. Shorter values would match unrelated text.
	shortestSecret = 4
	// shortWord is the maximum length of words and numbers that are not redacted.
	shortWord = 7
)

// Redactor replaces Secret values in text.
type Redactor struct{ values []string }

// New returns a Redactor for the values of the Secrets in a history. It replaces all base64-encoded values. It also
// replaces the decoded values, except the namespace, public values, and short words or numbers such as true or 8080.
func New(history []record.ObjectVersion, public sets.Set[string]) Redactor {
	var values []string
	for _, version := range history {
		if version.GetKind() != secretKind {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(version.Object, "data")
		for _, encoded := range data {
			values = append(values, encoded)
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			if value := strings.TrimSpace(string(decoded)); err == nil && value != version.GetNamespace() && !public.Has(value) && !isShortWord(value) {
				// Snapshots contain a placeholder instead of the namespace.
				inSnapshot := strings.ReplaceAll(value, version.GetNamespace(), "<namespace>")
				values = append(values, value, inJSON(value), inSnapshot, inJSON(inSnapshot))
			}
		}
	}
	return Values(values...)
}

// Values returns a Redactor for the given values. Longer values are replaced first.
func Values(values ...string) Redactor {
	values = slices.DeleteFunc(values, func(value string) bool { return len(value) < shortestSecret })
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return Redactor{slices.Compact(values)}
}

// And returns a Redactor that replaces the values of both Redactors.
func (r Redactor) And(other Redactor) Redactor {
	return Values(slices.Concat(r.values, other.values)...)
}

// Text returns the text with all values replaced.
func (r Redactor) Text(text string) string {
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, Hidden)
	}
	return text
}

// isShortWord reports whether a value is likely to occur in unrelated text.
func isShortWord(value string) bool {
	isOther := func(is func(rune) bool) bool {
		return strings.ContainsFunc(value, func(c rune) bool { return !is(c) })
	}
	return len(value) <= shortWord && (!isOther(unicode.IsLetter) || !isOther(unicode.IsDigit))
}

func inJSON(value string) string {
	text, _ := json.Marshal(value) // cannot fail for a string
	return strings.Trim(string(text), `"`)
}
