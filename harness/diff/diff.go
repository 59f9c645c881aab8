// Package diff compares two states of an object.
package diff

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Unified returns the unified diff of two strings, or an empty string if they are equal.
func Unified(fromName, toName, from, to string) string {
	text, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{ // a strings.Builder never fails
		A:        slices.Collect(strings.Lines(from)),
		B:        slices.Collect(strings.Lines(to)),
		FromFile: fromName,
		ToFile:   toName,
		Context:  3,
	})
	return text
}
