package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is the creation or the deletion of an object. Object has placeholders for what differs from run to run.
type Change struct {
	Deleted        bool
	Target, Object string
}

func (c Change) String() string {
	verb := "created"
	if c.Deleted {
		verb = "deleted"
	}
	return verb + " " + c.Target + " " + c.Object
}

// Varying is the count of a change that the reference's runs do not make equally often.
const Varying = -1

// MergeCounts marks in want the changes that another run made more or less often.
func MergeCounts(want, other map[Change]int) {
	for change, times := range other {
		if want[change] != times {
			want[change] = Varying
		}
	}
	for change, times := range want {
		if other[change] != times {
			want[change] = Varying
		}
	}
}

// TooMany returns a finding if a run made changes more often than the reference, and nil otherwise. To have made fewer is harmless if
// the final state is right: two actions may come so close that the operator sees only one of them. Each of the allowed changes may be
// made once more.
func TooMany(want, got map[Change]int, allowed []Change) error {
	found := Finding{Oracle: Counts}
	var messages []string
	for _, change := range slices.SortedFunc(maps.Keys(got), func(a, b Change) int { return strings.Compare(a.String(), b.String()) }) {
		times, most := got[change], want[change]
		if most == Varying || times <= most || times == most+1 && slices.Contains(allowed, change) {
			continue
		}
		problem := CreatedTooMuch
		if change.Deleted {
			problem = DeletedTooMuch
		}
		found.Objects = append(found.Objects, Object{Kind: change.Target, Name: change.Object, Problem: problem})
		messages = append(messages, fmt.Sprintf("%s %d times, not %d as in the reference", change, times, most))
	}
	if len(messages) == 0 {
		return nil
	}
	found.Message = strings.Join(messages, "; ")
	return found
}
