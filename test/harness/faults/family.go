package faults

import (
	"net/http"
	"slices"
)

// Family are faults of one nature.
type Family string

// The families.
const (
	Crashes  Family = "crashes"
	Leaders  Family = "leaders"
	Refusals Family = "refusals"
	Views    Family = "views"
	Slowness Family = "slowness"
)

// Families are all of them.
var Families = []Family{Crashes, Leaders, Refusals, Views, Slowness}

var members = map[Family][]Kind{
	Crashes:  {CrashBefore, CrashAfter, LostAnswer},
	Leaders:  {LateWrite},
	Refusals: {Refuse409, Refuse429, Refuse500, Refuse503, Timeout, Reset, Storm409, Storm503, StormReset},
	Views:    {Stale, StaleRestart, Missed},
	Slowness: {SlowReads, SlowWrites},
}

// Kinds are those of some families, or all of them if none is named.
func Kinds(families ...Family) []Kind {
	if len(families) == 0 {
		families = Families
	}
	var kinds []Kind
	for _, family := range families {
		kinds = append(kinds, members[family]...)
	}
	return kinds
}

// Family is the one that a kind is of; empty if it is no kind of fault.
func (k Kind) Family() Family {
	for _, family := range Families {
		if slices.Contains(members[family], k) {
			return family
		}
	}
	return ""
}

// OfWrites tells whether a kind befalls writes alone: who dies matters there, and only they conflict.
func (k Kind) OfWrites() bool {
	return k.Family() == Crashes || k.Family() == Leaders || k.status() == http.StatusConflict
}
