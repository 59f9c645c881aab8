package verdict

import (
	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/oracle"
)

// Expected is a state that runs must reach, except for nondeterministic parts. More such parts may be added at any
// time, even while a run is being compared with the state.
type Expected struct {
	oracle.Nondeterminism
	State      oracle.Snapshot
	Agreements []oracle.Agreement // fields that contain the same generated value in every fault-free run
}

// Compare returns a finding if the state differs from the expected one, or if fields that should contain the same
// generated value do not. It returns nil if x is nil, because there is no expected state while the reference is being
// recorded. The finding's message starts with the given text.
func (x *Expected) Compare(what string, state oracle.Snapshot) error {
	if x == nil {
		return nil
	}
	if differences := x.Differences(x.State, state); len(differences) > 0 {
		return FromDifferences(what, differences)
	}
	if broken := x.Disagreements(x.Agreements, state); len(broken) > 0 {
		return FromDisagreements(what, broken)
	}
	return nil
}

// Share adds the nondeterminism of all states to known, and then copies known to each state; see Adopt. A field that
// varies in one scenario may have the same value in every run of another scenario by chance.
func Share(states []*Expected, known *oracle.Nondeterminism) {
	for _, state := range states {
		known.Adopt(&state.Nondeterminism)
	}
	for _, state := range states {
		state.Adopt(known)
	}
}

// Deviation is a state that a run reached instead of the expected one.
type Deviation struct {
	Expected *Expected
	State    oracle.Snapshot
}

// Remains reports whether the states still differ, given the nondeterminism found so far.
func (d *Deviation) Remains() bool { return d.Expected.Compare("", d.State) != nil }

// OccursIn reports whether a later state deviates in the same way: every object that differs from the expected state
// must be equal to the object in d.State.
func (d *Deviation) OccursIn(state oracle.Snapshot) bool {
	mask := d.Expected.Normalize
	want, is, got := mask(d.Expected.State), mask(d.State), mask(state)
	differs := false
	for _, key := range diff.Keys(want, is) {
		if same(key, want, is) {
			continue
		}
		if differs = same(key, is, got); !differs {
			return false
		}
	}
	return differs
}

// same reports whether an object is equal in both snapshots or missing from both.
func same(key string, one, two oracle.Snapshot) bool {
	return oracle.Diff(oracle.Snapshot{key: one[key]}, oracle.Snapshot{key: two[key]}) == ""
}

// LearnFrom infers nondeterminism from the differences between fault-free runs. It also returns a description of each
// field and list order that varies.
func LearnFrom(deviations []*Deviation) (known *oracle.Nondeterminism, news []string) {
	known = &oracle.Nondeterminism{}
	for _, d := range deviations {
		var found oracle.Nondeterminism
		found.Learn(d.Expected.Normalize(d.Expected.State), d.Expected.Normalize(d.State))
		news = append(news, known.Adopt(&found)...)
	}
	return known, news
}
