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
	hidden     = "<value of a Secret>"
	// shortestSecret is the minimum length of a value that is redacted. Shorter values would match unrelated text.
	shortestSecret = 4
	// shortWord is the maximum length of a value that is not redacted if it consists only of letters or only of
	// digits.
	shortWord = 7
)

// redactor replaces the values of Secrets in texts, because results are stored, uploaded and shared. Values in base64
// are always replaced. Decoded values are replaced unless they are public words, short words or numbers, such as true
// or a port.
type redactor struct{ values []string }

// newRedactor collects the values of the Secrets in a history, both encoded and decoded. Decoded values that are in
// public are skipped.
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

// isShortWord reports whether a value is likely to occur in unrelated text.
func isShortWord(value string) bool {
	isOther := func(is func(rune) bool) bool {
		return strings.ContainsFunc(value, func(c rune) bool { return !is(c) })
	}
	return len(value) <= shortWord && (!isOther(unicode.IsLetter) || !isOther(unicode.IsDigit))
}

// inJSON returns the value as it is escaped in JSON, without the quotes.
func inJSON(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		return value // marshaling a string cannot fail
	}
	return strings.Trim(string(text), `"`)
}

// and returns a redactor for the values of both. Longer values are replaced first.
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

func (r redactor) text(text string) string {
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, hidden)
	}
	return text
}
