package verdict

import (
	"cmp"
	"fmt"
	"slices"
)

// Confirmation is how often a failure came again.
type Confirmation struct {
	// Played is how often the plan was run, the first time included, and Failed how often it failed alike.
	Played int `json:"played"`
	Failed int `json:"failed"`
	// PlayedWithoutFault and FailedWithoutFault are about the same scenario without a fault.
	PlayedWithoutFault int `json:"playedWithoutFault"`
	FailedWithoutFault int `json:"failedWithoutFault"`
}

// Unstable reports whether the failure does not come with the fault at least two times of three, or also comes without it. In a run in
// which the fault does not trigger, it cannot come with it.
func (c *Confirmation) Unstable() bool {
	return c != nil && (c.Failed < 2 || c.FailedWithoutFault > 0)
}

// compare sorts what came again before what did not, and that before what was not run again.
func (c *Confirmation) compare(other *Confirmation) int {
	rank := func(c *Confirmation) int {
		switch {
		case c == nil:
			return 2
		case c.Unstable():
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(c), rank(other))
}

func (c *Confirmation) String() string {
	return fmt.Sprintf("%d of %d times with the fault, %d of %d times without it", c.Failed, c.Played, c.FailedWithoutFault, c.PlayedWithoutFault)
}

// maxExamples is how many plans of a cause are run again until one fails alike: some faults hit a race more often than others.
const maxExamples = 3

// Next returns the index of the plan of a group that is to be run again next, and whether there is one: none if one of its plans has
// come again, or is run again now, or if maxExamples have not come again. state looks up a plan.
func (g Group) Next(state func(index int) (confirmation *Confirmation, underway bool)) (int, bool) {
	next, tried := -1, 0
	for _, i := range g.Plans {
		switch confirmation, underway := state(i); {
		case confirmation != nil:
			if tried++; !confirmation.Unstable() || confirmation.FailedWithoutFault > 0 {
				return -1, false
			}
		case underway:
			return -1, false
		case next < 0:
			next = i
		}
	}
	return next, next >= 0 && tried < maxExamples
}

// Trial counts how often a failure comes again.
type Trial struct {
	// Example are the findings of the failure.
	Example []Finding
	Confirmation
	// healed are the findings of runs in which a lost state was reached late.
	healed []Finding
}

// AddWithFault counts a run in which the fault applied.
func (t *Trial) AddWithFault(findings []Finding) {
	t.Played++
	if Alike(t.Example, findings) {
		t.Failed++
	}
	late := slices.IndexFunc(findings, isOf(Late))
	if late >= 0 && slices.ContainsFunc(t.Example, Finding.IsLoss) && !slices.ContainsFunc(findings, Finding.IsLoss) {
		t.healed = append(t.healed, findings[late])
	}
}

// AddWithoutFault counts a run in which no fault applied.
func (t *Trial) AddWithoutFault(findings []Finding) {
	t.PlayedWithoutFault++
	if Alike(t.Example, findings) {
		t.FailedWithoutFault++
	}
}

// IsHealed reports whether the lost state was reached late each time that the example was run again.
func (t *Trial) IsHealed() bool { return len(t.healed) > 0 && len(t.healed) >= t.Played-1 }

// Heal returns the findings of a plan of the cause, of which a loss is only late. It requires IsHealed.
func (t *Trial) Heal(findings []Finding) []Finding {
	if !slices.ContainsFunc(findings, Finding.IsLoss) {
		return findings // the plan was played again, and is right
	}
	rest := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.IsLoss() || f.Oracle == Late })
	t.Failed = max(t.Failed, 1+len(t.healed))
	return append(rest, t.healed[0])
}

// Alike reports whether an oracle objects to both.
func Alike(one, two []Finding) bool {
	return slices.ContainsFunc(one, func(f Finding) bool { return slices.ContainsFunc(two, isOf(f.Oracle)) })
}

func isOf(oracle Oracle) func(Finding) bool {
	return func(f Finding) bool { return f.Oracle == oracle }
}

// IsLoss reports whether a finding says that a state was never reached.
func (f Finding) IsLoss() bool { return f.Oracle == Converges || f.Oracle == Reference }
