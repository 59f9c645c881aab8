package explore

import (
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

func (e *Explorer) counts(ref *reference, writes []fault.Write) map[verdict.Change]int {
	counts := map[verdict.Change]int{}
	for _, write := range writes {
		if write.Created || write.Deleted {
			kind, _ := e.kinds.lookUp(write.Target)
			object := ref.nameOf(kind, write.Object)
			counts[verdict.Change{Deleted: !write.Created, Target: write.Target, Object: object}]++
		}
	}
	return counts
}

// count returns a finding if objects were created or deleted more often than in the reference. A delayed write is an
// exception. It may arrive after the object was deleted and create it again. The operator cannot prevent that, and
// the garbage collector deletes the object.
func (ref *reference) count(got map[verdict.Change]int, faults []fault.Trigger) error {
	var allowed []verdict.Change
	for _, trigger := range faults {
		if trigger.Type == fault.DelayedWrite {
			allowed = append(allowed, ref.creates(trigger.At)...)
		}
	}
	return verdict.TooMany(ref.counts, got, allowed)
}

// creates returns the change that a request makes if it creates an object. It returns nil for generated names,
// because the second object would have a different name and remain.
func (ref *reference) creates(key fault.RequestKey) []verdict.Change {
	i := slices.IndexFunc(ref.writes, func(write fault.Write) bool { return write.RequestKey == key })
	if i < 0 || strings.HasSuffix(ref.writes[i].Object, "*") {
		return nil
	}
	return []verdict.Change{{Target: key.Target, Object: ref.writes[i].Object}}
}
