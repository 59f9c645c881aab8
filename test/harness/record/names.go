package record

import (
	"regexp"
	"strings"
)

// UIDs matches the UID of an object anywhere in a text.
var UIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// NormalizeName replaces what differs between two runs in an object's name: the namespace's name and UIDs.
func NormalizeName(name, namespace string) string {
	if namespace != "" {
		name = strings.ReplaceAll(name, namespace, "<namespace>")
	}
	return UIDs.ReplaceAllString(name, "<uid>")
}
