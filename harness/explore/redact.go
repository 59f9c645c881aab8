package explore

import (
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
	// hidden stands for a value of a Secret.
	hidden = "<value of a Secret>"
	// shortestSecret is the length of the shortest value that is hidden in texts. A shorter one would also be found where
	// it is something else.
	shortestSecret = 4
	// shortWord is the length up to which letters alone, or digits alone, are taken for a word or a number.
	shortWord = 7
)

// redactor replaces the values of Secrets in texts: results are kept, uploaded and shown to others. A value in a Secret
// itself is replaced by its encoded form, whatever it is. Elsewhere it is not replaced if it is no secret: a public word, or
// a short word or number, such as true or a port.
type redactor struct{ values []string }

// newRedactor collects the values of the Secrets of a history, encoded and decoded. public are words that are no
// secrets.
func newRedactor(history []record.ObjectVersion, public sets.Set[string]) redactor {
	var r redactor
	for _, version := range history {
		if version.GetKind() != secretKind {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(version.Object, "data")
		for _, encoded := range data {
			r.values = append(r.values, encoded)
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			if value := strings.TrimSpace(string(decoded)); err == nil && !public.Has(value) && !isShortWord(value) {
				r.values = append(r.values, value, inJSON(value))
			}
		}
	}
	return r.and(redactor{})
}

// isShortWord tells whether a value is found where it is no secret.
func isShortWord(value string) bool {
	isOther := func(is func(rune) bool) bool {
		return strings.ContainsFunc(value, func(c rune) bool { return !is(c) })
	}
	return len(value) <= shortWord && (!isOther(unicode.IsLetter) || !isOther(unicode.IsDigit))
}

// inJSON is a value as it stands in JSON, between the quotes.
func inJSON(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		return value // a string always marshals
	}
	return strings.Trim(string(text), `"`)
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
