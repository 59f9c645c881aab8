package results

import "slices"

// PanicWithoutFault is a panic in a run without a fault.
type PanicWithoutFault struct {
	Scenario string `json:"scenario"`
	// Message contains the source line and the panic value, for example "at controller/web.go:42: index out of
	// range".
	Message string `json:"message"`
}

// addPanics adds the panics whose message is new. The same panic may occur in several scenarios and shards.
func (e *Exploration) addPanics(more []PanicWithoutFault) {
	for _, p := range more {
		if !slices.ContainsFunc(e.Panics, func(known PanicWithoutFault) bool { return known.Message == p.Message }) {
			e.Panics = append(e.Panics, p)
		}
	}
}
