package fault

import (
	"net/http"
	"slices"
)

// Category groups faults of one nature.
type Category string

// The categories.
const (
	Crashes       Category = "crashes"
	LeaderChanges Category = "leader-changes"
	Replacements  Category = "replacements"
	Errors        Category = "errors"
	Staleness     Category = "staleness"
	TimeTravels   Category = "time-travels"
	Latency       Category = "latency"
)

// Categories are all of them, in the order in which they are explored.
var Categories = []Category{Crashes, LeaderChanges, Replacements, Errors, Staleness, TimeTravels, Latency}

var typesOf = map[Category][]Type{
	Crashes:       {CrashBefore, CrashAfter, LostResponse},
	LeaderChanges: {DelayedWrite},
	Replacements:  {Replaced},
	Errors:        {Error409, Error429, Error500, Error503, Error504, ConnectionReset, ErrorBurst409, ErrorBurst503, ConnectionResetBurst, SlowError500},
	Staleness:     {Stale, StaleAcross, StaleRestart, MissedEvents},
	TimeTravels:   {TimeTravel, TimeTravelFar, TimeTravelDeleting},
	Latency:       {SlowReads, SlowWrites},
}

// Types returns the fault types of the given categories, or all types without arguments.
func Types(categories ...Category) []Type {
	if len(categories) == 0 {
		categories = Categories
	}
	var kinds []Type
	for _, category := range categories {
		kinds = append(kinds, typesOf[category]...)
	}
	return kinds
}

// Category is the category of the type; empty if it is no fault type.
func (k Type) Category() Category {
	for _, category := range Categories {
		if slices.Contains(typesOf[category], k) {
			return category
		}
	}
	return ""
}

// WritesOnly tells whether the fault applies to writes alone. A crash, a lost response or a replaced resource matters at
// writes, and only writes conflict or are admitted.
func (k Type) WritesOnly() bool {
	return slices.Contains([]Category{Crashes, LeaderChanges, Replacements}, k.Category()) || statuses[k] == http.StatusConflict || k == SlowError500
}
