package verdict

import (
	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/oracle"
)

// Expected is a state that runs must reach. More nondeterminism may be added to it while runs are being compared with
// it.
type Expected struct {
	oracle.Nondeterminism
	State oracle.Snapshot
	// Agreements are the generated values that several fields share in every fault-free run. See LearnAgreements.
	Agreements []oracle.Agreement
}

// LearnAgreements sets Agreements from the states of all fault-free runs. It must be called after the nondeterminism is
// known.
func (x *Expected) LearnAgreements(states ...oracle.Snapshot) {
	x.Agreements = x.Nondeterminism.Agreements(states...)
}

// Compare returns a finding if the state differs from the expected one, or if its generated values are inconsistent. It
// returns nil if x is nil, that is, while the reference is still being recorded. The finding's message starts with the
// given text.
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

// Share merges the nondeterminism of every state with that learned from other runs, and adds it to all states. For
// example, a field with two possible values may have the same value in every run of one scenario but vary between runs
// of another.
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

// Remains reports whether the states still differ, given the nondeterminism discovered so far.
func (d *Deviation) Remains() bool {
	return d.Expected.Compare("", d.State) != nil
}

// OccursIn reports whether a later state contains every object that differs, exactly as it was recorded.
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
// new item.
func LearnFrom(deviations []*Deviation) (known *oracle.Nondeterminism, news []string) {
	known = &oracle.Nondeterminism{}
	for _, d := range deviations {
		var found oracle.Nondeterminism
		found.Learn(d.Expected.Normalize(d.Expected.State), d.Expected.Normalize(d.State))
		news = append(news, known.Adopt(&found)...)
	}
	return known, news
}
