package explore

import (
	"maps"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

// expected is a state that other runs must reach. Nondeterminism may still be added while runs are compared with it.
type expected struct {
	oracle.Nondeterminism
	state oracle.Snapshot
}

// compare returns a finding if the state differs from the expected one. It returns nil if x is nil, that is, while
// the reference is still being learned. The argument what is the start of the finding's message.
func (x *expected) compare(what string, state oracle.Snapshot) error {
	if x == nil {
		return nil
	}
	if differences := x.Differences(x.state, state); len(differences) > 0 {
		return verdict.FromDifferences(what, differences)
	}
	return nil
}

type difference struct {
	expected *expected
	state    oracle.Snapshot
}

// remains reports whether the states still differ, given the nondeterminism that is known now.
func (d *difference) remains() bool {
	return len(d.expected.Differences(d.expected.state, d.state)) > 0
}

// comesIn reports whether a later state contains every object in the difference, exactly as it was recorded there.
func (d *difference) comesIn(state oracle.Snapshot) bool {
	mask := d.expected.Normalize
	want, is, got := mask(d.expected.state), mask(d.state), mask(state)
	differs := false
	for _, key := range diff.Keys(want, is) {
		if oracle.Diff(only(key, want), only(key, is)) == "" {
			continue
		}
		if differs = oracle.Diff(only(key, is), only(key, got)) == ""; !differs {
			return false
		}
	}
	return differs
}

// only returns a snapshot that contains at most the object with the given key.
func only(key string, of oracle.Snapshot) oracle.Snapshot {
	one := oracle.Snapshot{}
	maps.Copy(one, of)
	maps.DeleteFunc(one, func(other string, _ string) bool { return other != key })
	return one
}
