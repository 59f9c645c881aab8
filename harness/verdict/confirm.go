package verdict

import (
	"fmt"
	"slices"
)

// Confirmation counts how often a failure was reproduced.
type Confirmation struct {
	// Played is the number of runs with the fault, including the first one. Failed is how many of these runs failed.
	Played int `json:"played"`
	Failed int `json:"failed"`
	// PlayedWithoutFault and FailedWithoutFault count the scenario's runs and failures without the fault.
	PlayedWithoutFault int `json:"playedWithoutFault"`
	FailedWithoutFault int `json:"failedWithoutFault"`
}

// Unstable reports whether the failure occurred in fewer than two runs with the fault, or in any run without it. A run
// in which the fault was not triggered counts as a run without it.
func (c *Confirmation) Unstable() bool {
	return c != nil && (c.Failed < 2 || c.FailedWithoutFault > 0)
}

// rank returns a sort key. Reproduced failures come first, and failures that were not rerun come last.
func (c *Confirmation) rank() int {
	switch {
	case c == nil:
		return 2
	case c.Unstable():
		return 1
	}
	return 0
}

func (c *Confirmation) String() string {
	return fmt.Sprintf("%d of %d times with the fault, %d of %d times without it", c.Failed, c.Played, c.FailedWithoutFault, c.PlayedWithoutFault)
}

// maxExamples is the maximum number of plans per cause that are rerun to reproduce a failure. It is greater than 1,
// because some faults trigger the same race condition more often than others.
const maxExamples = 3

// Next returns the index of the plan to rerun next. It returns false in the following cases:
//   - One of the failures has been reproduced, or has also occurred without the fault.
//   - A plan is being rerun.
//   - All plans, or maxExamples of them, have been rerun.
//
// state returns the results of a plan's reruns, and whether the plan is being rerun.
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

// Trial counts how often a failure occurs when the plan is rerun.
type Trial struct {
	Example []Finding // the findings of the original failure
	Confirmation
	// healed contains one Late finding for each rerun that took too long but reached every expected state.
	healed []Finding
}

// AddWithFault counts a run in which the fault was injected.
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

// AddWithoutFault counts a run in which no fault was injected.
func (t *Trial) AddWithoutFault(findings []Finding) {
	t.PlayedWithoutFault++
	if Alike(t.Example, findings) {
		t.FailedWithoutFault++
	}
}

// IsHealed reports whether every rerun with the fault reached all expected states, but took too long to do so.
func (t *Trial) IsHealed() bool { return len(t.healed) > 0 && len(t.healed) >= t.Played-1 }

// Heal removes the findings for which IsLoss returns true and adds a Late finding. Call it only if IsHealed returns
// true.
func (t *Trial) Heal(findings []Finding) []Finding {
	if !slices.ContainsFunc(findings, Finding.IsLoss) {
		return findings // the plan passed when it was rerun
	}
	rest := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.IsLoss() || f.Oracle == Late })
	t.Failed = max(t.Failed, 1+len(t.healed))
	return append(rest, t.healed[0])
}

// Alike reports whether both lists contain a finding from the same oracle.
func Alike(one, two []Finding) bool {
	return slices.ContainsFunc(one, func(f Finding) bool { return slices.ContainsFunc(two, isOf(f.Oracle)) })
}

func isOf(oracle Oracle) func(Finding) bool {
	return func(f Finding) bool { return f.Oracle == oracle }
}

// IsLoss reports whether the finding means that an expected state was not reached.
func (f Finding) IsLoss() bool {
	return f.Oracle == Converges || f.Oracle == Reference || f.Oracle == Agreement
}
