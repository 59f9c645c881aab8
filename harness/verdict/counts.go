package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is the creation or deletion of an object. Object contains placeholders for the parts that vary between runs.
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

// Varying marks a change whose count varies between the reference runs.
const Varying = -1

// MergeCounts sets the count of a change in want to Varying if it differs in other.
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

// TooMany returns a finding if a change was made more often than in the reference. Fewer changes are not reported,
// because the operator may process two actions at once. Each change in allowed may be made one additional time.
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
