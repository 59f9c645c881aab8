package faultinject

import (
	"net/http"
	"slices"
)

// Category are faults of one nature.
type Category string

// The families.
const (
	Crashes       Category = "crashes"
	LeaderChanges Category = "leader-changes"
	Errors        Category = "errors"
	Staleness     Category = "staleness"
	Latency       Category = "latency"
)

// Categories are all of them.
var Categories = []Category{Crashes, LeaderChanges, Errors, Staleness, Latency}

var typesOf = map[Category][]Type{
	Crashes:       {CrashBefore, CrashAfter, LostResponse},
	LeaderChanges: {DelayedWrite},
	Errors:        {Error409, Error429, Error500, Error503, Error504, ConnectionReset, ErrorBurst409, ErrorBurst503, ConnectionResetBurst},
	Staleness:     {Stale, StaleRestart, MissedEvents},
	Latency:       {SlowReads, SlowWrites},
}

// Types are those of some families, or all of them if none is named.
func Types(families ...Category) []Type {
	if len(families) == 0 {
		families = Categories
	}
	var kinds []Type
	for _, family := range families {
		kinds = append(kinds, typesOf[family]...)
	}
	return kinds
}

// Category is the one that a kind is of; empty if it is no kind of fault.
func (k Type) Category() Category {
	for _, family := range Categories {
		if slices.Contains(typesOf[family], k) {
			return family
		}
	}
	return ""
}

// WritesOnly tells whether a kind befalls writes alone: who dies matters there, and only they conflict.
func (k Type) WritesOnly() bool {
	return k.Category() == Crashes || k.Category() == LeaderChanges || k.status() == http.StatusConflict
}
