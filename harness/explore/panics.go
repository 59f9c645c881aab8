package explore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/report/results"
)

// Panics returns the panics of all runs without a fault so far, sorted by scenario.
func (e *Explorer) Panics() []results.PanicWithoutFault {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.SortedFunc(slices.Values(e.panics), func(a, b results.PanicWithoutFault) int {
		return cmp.Or(strings.Compare(a.Scenario, b.Scenario), strings.Compare(a.Message, b.Message))
	})
}

// panicked returns the panics in the log of a run that do not also occur without a fault. The panics of a run without
// a fault are also recorded in the Explorer, because no plan causes them.
func (e *Explorer) panicked(plan Plan, log string, hide redactor) []oracle.GoPanic {
	found := oracle.Panics(log)
	if plan.Fault.Type == fault.None {
		e.notePanics(plan.Scenario, found, hide)
	}
	return slices.DeleteFunc(found, func(p oracle.GoPanic) bool {
		return plan.Fault.Type != fault.None && e.panicsAnyway(p, hide)
	})
}

// notePanics records the panics of a run without a fault and reports new ones.
func (e *Explorer) notePanics(scenario string, found []oracle.GoPanic, hide redactor) {
	for _, p := range found {
		if e.panicsAnyway(p, hide) {
			continue
		}
		noted := results.PanicWithoutFault{Scenario: scenario, Message: hide.text(p.String())}
		e.mu.Lock()
		e.panics = append(e.panics, noted)
		e.mu.Unlock()
		e.tell("%s: the operator panics without any fault: %s", scenario, noted.Message)
	}
}

// panicsAnyway reports whether the same panic occurred in a run without a fault. Panics are compared by their source
// line, or by their value if the log has no stack trace.
func (e *Explorer) panicsAnyway(p oracle.GoPanic, hide redactor) bool {
	if p.Source != "" {
		p.Value = ""
	}
	known := hide.text(p.String())
	return slices.ContainsFunc(e.Panics(), func(noted results.PanicWithoutFault) bool {
		return noted.Message == known || p.Source != "" && strings.HasPrefix(noted.Message, known+": ")
	})
}
