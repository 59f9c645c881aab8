package explore

import "github.com/operator-assay/assay/harness/record"

// invariants calls Options.Invariants. For a pair, a violation counts only if the checks of both fault categories
// fail.
func (j *judge) invariants(plan Plan, history []record.ObjectVersion) error {
	if j.options.Invariants == nil {
		return nil
	}
	err := j.options.Invariants(plan.Fault.Category(), history)
	if err != nil && plan.isPair() {
		err = j.options.Invariants(plan.Then.Category(), history)
	}
	return err
}
