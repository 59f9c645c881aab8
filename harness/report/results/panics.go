package results

import (
	"regexp"
	"slices"
	"strings"
)

// panics is the oracle that a panic of the operator's code is a finding of.
const panics = "panics"

// PanicWithoutFault is a panic in a run without a fault. No plan is to blame for it.
type PanicWithoutFault struct {
	Scenario string `json:"scenario"`
	// Message is the source line and the value: "at controller/web.go:42: index out of range".
	Message string `json:"message"`
}

// addPanics adds those that are new: one panic may come in several scenarios, and in several shards.
func (e *Exploration) addPanics(more []PanicWithoutFault) {
	for _, p := range more {
		if !slices.ContainsFunc(e.Panics, func(known PanicWithoutFault) bool { return known.Message == p.Message }) {
			e.Panics = append(e.Panics, p)
		}
	}
}

// number is what differs in the values of one panic: an index, or an address.
var number = regexp.MustCompile(`0x[0-9a-f]+|\d+`)

// panicSymptom is the first of the panics of a message. The line of the source is kept as it is.
func panicSymptom(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	at, value, found := strings.Cut(first, ": ")
	if !found || !strings.HasPrefix(at, "at ") {
		return generalized(number.ReplaceAllString(first, "…"))
	}
	return at + ": " + generalized(number.ReplaceAllString(value, "…"))
}
