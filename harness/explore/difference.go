package explore

import (
	"maps"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

// expected is a state that later runs must reach. More of what is random may be learnt while runs are compared with it.
type expected struct {
	oracle.Nondeterminism // what differs between the runs
	state                 oracle.Snapshot
}

// compare returns a finding if a state differs from the expected one; nil while that is learnt. what begins its message.
func (x *expected) compare(what string, state oracle.Snapshot) error {
	if x == nil {
		return nil
	}
	if differences := x.Differences(x.state, state); len(differences) > 0 {
		return verdict.FromDifferences(what, differences)
	}
	return nil
}

// difference is a state that is not as it was expected.
type difference struct {
	expected *expected
	state    oracle.Snapshot
}

// remains tells whether it is one by all that is known now.
func (d *difference) remains() bool {
	return len(d.expected.Differences(d.expected.state, d.state)) > 0
}

// comesIn tells whether a later state has each object that differs from what was expected as the difference has it.
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

// only is an object of a snapshot, if it is there.
func only(key string, of oracle.Snapshot) oracle.Snapshot {
	one := oracle.Snapshot{}
	maps.Copy(one, of)
	maps.DeleteFunc(one, func(other string, _ string) bool { return other != key })
	return one
}
