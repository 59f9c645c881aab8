package oracle

import (
	"fmt"
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

// Counts contains the number of times that each change was made in a run.
type Counts map[Change]int

// Varying marks a change whose count varies between the reference runs.
const Varying = -1

// Merge marks the counts that differ between c and other as Varying.
func (c Counts) Merge(other Counts) {
	for _, one := range []Counts{c, other} {
		for change := range one {
			if c[change] != other[change] {
				c[change] = Varying
			}
		}
	}
}

// Excess is a change that a run made more often than the reference.
type Excess struct {
	Change
	Times, Reference int
}

func (e Excess) String() string {
	return fmt.Sprintf("%s %d times, but %d times in the reference run", e.Change, e.Times, e.Reference)
}

// TooMany returns the changes that occur more often in got than in the reference c. Lower counts are ignored, because a
// single reconcile may handle several events. Each change in allowed may occur one more time than in the reference.
func (c Counts) TooMany(got Counts, allowed []Change) []Excess {
	var found []Excess
	for change, times := range got {
		most := c[change]
		if most != Varying && times > most && (times > most+1 || !slices.Contains(allowed, change)) {
			found = append(found, Excess{change, times, most})
		}
	}
	slices.SortFunc(found, func(a, b Excess) int { return strings.Compare(a.Change.String(), b.Change.String()) })
	return found
}
