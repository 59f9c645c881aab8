package redact

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/sets"
)

// PublicWords returns the words in objects that are not confidential, such as CRDs and the operator's manifests. It
// skips Secrets and fields whose name suggests a credential.
func PublicWords(objects ...map[string]any) sets.Set[string] {
	words := sets.New[string]()
	for _, object := range objects {
		if kind, _ := object["kind"].(string); !strings.HasPrefix(kind, secretKind) {
			addWords(words, object)
		}
	}
	return words
}

// credential matches the names of fields, environment variables and arguments whose values are probably secret.
var credential = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|private|api[-_]?key`)

func addWords(words sets.Set[string], value any) {
	switch value := value.(type) {
	case map[string]any:
		if name, _ := value["name"].(string); credential.MatchString(name) {
			return // an environment variable such as API_TOKEN
		}
		for key, field := range value {
			addText(words, key)
			if !credential.MatchString(key) {
				addWords(words, field)
			}
		}
	case []any:
		for _, element := range value {
			addWords(words, element)
		}
	default:
		if text := fmt.Sprint(value); !credential.MatchString(text) {
			addText(words, text)
		}
	}
}

// addText adds all words in a text, such as my-app, and their parts, such as my and app.
func addText(words sets.Set[string], text string) {
	words.Insert(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })...)
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`=,;:"'()[]{}`+"`", c) }) {
		words.Insert(strings.TrimRight(word, "."), strings.TrimLeft(word, "-"))
	}
}
