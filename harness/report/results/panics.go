package results

import "slices"

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
