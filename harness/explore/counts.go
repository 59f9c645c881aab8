package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/fault"
)

// counts returns how often the operator created and deleted each object.
func (e *Explorer) counts(ref *reference, writes []fault.Write) map[string]int {
	counts := map[string]int{}
	for _, write := range writes {
		object := ref.nameOf(e.kinds[schema.ParseGroupResource(write.Target)], write.Object)
		switch {
		case write.Created:
			counts[created(write.Target, object)]++
		case write.Deleted:
			counts["deleted "+write.Target+" "+object]++
		}
	}
	return counts
}

// count returns which objects were created or deleted more often than in the reference. To have done less is no harm
// when the final state is right: two actions may come so close that the operator sees one. One case is allowed: a deposed
// leader's delayed create arrives when its object has been deleted, and creates it once more. No precondition can forbid
// that, and the garbage collector deletes the object.
func (ref *reference) count(got map[string]int, faults []fault.Trigger) error {
	var differences []string
	for _, what := range diff.Keys(ref.counts, got) {
		want, times := ref.counts[what], got[what]
		delayed := func(trigger fault.Trigger) bool {
			return trigger.Type == fault.DelayedWrite && what == ref.creates(trigger.At)
		}
		if times == want+1 && slices.ContainsFunc(faults, delayed) {
			continue
		}
		if want >= 0 && times > want {
			differences = append(differences, fmt.Sprintf("%s %d times, not %d as in the reference", what, times, want))
		}
	}
	if len(differences) == 0 {
		return nil
	}
	return errors.New(strings.Join(differences, "; "))
}

// creates returns what a request creates; empty if the API server generates the name, since then a second object
// stays.
func (ref *reference) creates(key fault.RequestKey) string {
	i := slices.IndexFunc(ref.writes, func(write fault.Write) bool { return write.RequestKey == key })
	if i < 0 || strings.HasSuffix(ref.writes[i].Object, "*") {
		return ""
	}
	return created(key.Target, ref.writes[i].Object)
}

func created(target, object string) string { return "created " + target + " " + object }
