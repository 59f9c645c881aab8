package oracle

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Agreement is a generated value, such as a password, that occurs in several fields of a state.
type Agreement struct {
	// Value identifies a field whose entire content is the generated value. Others identifies the other fields in which
	// the value occurs, possibly base64-encoded or as part of a longer string such as a configuration file.
	Value  Field
	Others []Field
	// whole contains the fields in Others whose only content is the value. The remaining fields may contain the value in
	// escaped form.
	whole []Field
}

// Field is a field of an object in a Snapshot.
type Field struct{ Object, Path string }

func (f Field) String() string { return f.Object + " " + f.Path }

func (f Field) compare(other Field) int {
	return cmp.Or(strings.Compare(f.Object, other.Object), strings.Compare(f.Path, other.Path))
}

// Agreements returns the generated values that several fields share in every state. The states must come from runs of
// the same scenario. A value counts as generated if it is different in every state.
func (n *Nondeterminism) Agreements(states ...Snapshot) []Agreement {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var texts []map[Field]string
	for _, state := range states {
		texts = append(texts, n.textsOf(state))
	}
	var generated []Field
	for field := range texts[0] {
		if n.varies(field) && isGeneratedValue(field, texts) {
			generated = append(generated, field)
		}
	}
	slices.SortFunc(generated, Field.compare)
	inAll := func(a, b Field) bool {
		return !slices.ContainsFunc(texts, func(of map[Field]string) bool { return !contains(of[b], of[a]) })
	}
	var found []Agreement
	for _, field := range generated {
		if slices.ContainsFunc(found, func(known Agreement) bool { return inAll(known.Value, field) && inAll(field, known.Value) }) {
			continue // the same value
		}
		others := slices.DeleteFunc(slices.Clone(generated), func(other Field) bool { return other == field || !inAll(field, other) })
		if len(others) > 0 {
			whole := slices.DeleteFunc(slices.Clone(others), func(other Field) bool { return !inAll(other, field) })
			found = append(found, Agreement{field, others, whole})
		}
	}
	return found
}

// Disagreements checks whether the fields in each agreement still share a value in the given state. It returns the
// violated agreements. Their Others field lists only the fields that do not contain the value. Disagreements ignores
// fields that are missing from the state, and fields that may contain the value in escaped form.
func (n *Nondeterminism) Disagreements(agreements []Agreement, state Snapshot) []Agreement {
	if len(agreements) == 0 {
		return nil
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	texts := n.textsOf(state)
	var broken []Agreement
	for _, agreement := range agreements {
		value, exists := texts[agreement.Value]
		differing := slices.DeleteFunc(slices.Clone(agreement.Others), func(other Field) bool {
			text, found := texts[other]
			return !found || contains(text, value) || isEscaped(text, value) || isEscaped(value, text) ||
				!isPlain(value) && !slices.Contains(agreement.whole, other)
		})
		if exists && len(differing) > 0 {
			broken = append(broken, Agreement{Value: agreement.Value, Others: differing})
		}
	}
	return broken
}

// isEscaped reports whether the text is the value, escaped for the query or the path of a URL.
func isEscaped(text, value string) bool {
	query, _ := url.QueryUnescape(text)
	path, _ := url.PathUnescape(text)
	return query == value || path == value
}

// varies reports whether the value of the field differs between runs. The caller must hold the lock.
func (n *Nondeterminism) varies(field Field) bool {
	for path := range n.fields[field.Object] {
		if rest, inside := strings.CutPrefix(field.Path, path); inside && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// textsOf returns the string fields of all objects with a varying field. The caller must hold the lock. It excludes:
//   - objects with a number appended to their key, because the number depends on the content of the object
//   - Pods and ReplicaSets
//   - lists whose order varies, because an index can refer to a different element in each run
func (n *Nondeterminism) textsOf(state Snapshot) map[Field]string {
	texts := map[Field]string{}
	for key, object := range n.withoutNames(state) {
		kind, _, _ := strings.Cut(key, "/")
		if n.fields[key].Len() > 0 && !numbered.MatchString(key) && kind != "Pod" && kind != "ReplicaSet.apps" {
			walk("", parsed(object), func(path string, value any) any {
				if text, isText := value.(string); isText {
					texts[Field{key, path}] = text
				}
				if n.orders[key].Has(path) {
					return nil
				}
				return value
			})
		}
	}
	return texts
}

// shortestGenerated is the minimum length of a generated value. Shorter values are too likely to match by chance.
const shortestGenerated = 6

// countOrTime matches counts and times. Unrelated fields often contain the same count or time.
var countOrTime = regexp.MustCompile(`^[\d\s:.,/TZ+-]*$`)

// timeLayouts lists the time layouts that contain letters, such as the name of a month. The last one is the layout of
// time.Time.String.
var timeLayouts = []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, "2006-01-02 15:04:05.999999999 -0700 MST"}

// isTime reports whether a string is a time in one of the timeLayouts, with or without a monotonic clock reading.
func isTime(text string) bool {
	text, _, _ = strings.Cut(text, " m=")
	return slices.ContainsFunc(timeLayouts, func(layout string) bool { _, err := time.Parse(layout, text); return err == nil })
}

// isGeneratedValue reports whether the field has a different value in every state. Short values, counts, times and
// placeholders do not count as generated.
func isGeneratedValue(field Field, states []map[Field]string) bool {
	seen := map[string]bool{}
	for _, texts := range states {
		value := strings.TrimSpace(decoded(texts[field]))
		if len(value) < shortestGenerated || seen[value] || countOrTime.MatchString(value) || isTime(value) || strings.HasPrefix(value, "<") {
			return false
		}
		seen[value] = true
	}
	return true
}

// contains reports whether the text is equal to the value, or contains it as a whole word. The second check applies
// only to values that are never escaped. The text and the value may be base64-encoded.
func contains(where, value string) bool {
	values := layers(value)
	return slices.ContainsFunc(layers(where), func(layer string) bool {
		return slices.ContainsFunc(values, func(inner string) bool {
			return standard.Replace(layer) == standard.Replace(inner) || plain.MatchString(inner) && containsWord(layer, inner)
		})
	})
}

// plain matches values that consist only of characters that are never escaped.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func isPlain(value string) bool {
	all := layers(value)
	return plain.MatchString(all[len(all)-1])
}

// layers returns the text, followed by the result of each successive base64 decoding.
func layers(text string) []string {
	text = strings.TrimSpace(text)
	if inner := decoded(text); inner != text {
		return append([]string{text}, layers(inner)...)
	}
	return []string{text}
}

func containsWord(text, word string) bool {
	for rest := text; ; {
		before, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		first, _ := utf8.DecodeRuneInString(after)
		if !isWordRune(last) && !isWordRune(first) {
			return true
		}
		rest = rest[len(before)+1:]
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// standard converts base64.URLEncoding to base64.StdEncoding.
var standard = strings.NewReplacer("-", "+", "_", "/")

// decoded decodes a base64 string that contains printable text. It returns any other string unchanged.
func decoded(text string) string {
	plain, err := base64.StdEncoding.DecodeString(standard.Replace(text))
	isText := func(r rune) bool { return r != utf8.RuneError && (unicode.IsPrint(r) || unicode.IsSpace(r)) }
	if err != nil || strings.ContainsFunc(string(plain), func(r rune) bool { return !isText(r) }) {
		return text
	}
	return string(plain)
}
