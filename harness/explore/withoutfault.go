package explore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// WithoutFault returns the findings of all runs without a fault so far, sorted by scenario.
func (e *Explorer) WithoutFault() []results.FindingWithoutFault {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.SortedFunc(slices.Values(e.withoutFault), func(a, b results.FindingWithoutFault) int {
		return cmp.Or(strings.Compare(a.Scenario, b.Scenario), strings.Compare(a.Message, b.Message))
	})
}

// AddWithoutFault records a finding of a run without a fault and reports it, unless its cause is already known.
func (e *Explorer) AddWithoutFault(scenario string, found verdict.Finding) {
	e.mu.Lock()
	known := slices.ContainsFunc(e.withoutFault, func(f results.FindingWithoutFault) bool { return f.Cause() == found.Cause() })
	if !known {
		e.withoutFault = append(e.withoutFault, results.FindingWithoutFault{Scenario: scenario, Finding: found})
	}
	e.mu.Unlock()
	if !known {
		e.tell("%s: found without any fault: %s", scenario, found.Message)
	}
}

// noteStuck records the objects whose deletion has not finished at the end of a run without a fault.
func (e *Explorer) noteStuck(r *run, end outcome) {
	hide, withoutNamespace := newRedactor(end.history, e.Options.Public), strings.NewReplacer(r.namespace, "<namespace>").Replace
	for _, stuck := range end.stuck {
		found := verdict.FromStuckDeletion(stuck, refused(r.injector.Requests.Requests()))
		e.AddWithoutFault(r.Name, found.Redact(withoutNamespace).Redact(hide.text))
	}
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

// notePanics records the panics of a run without a fault.
func (e *Explorer) notePanics(scenario string, found []oracle.GoPanic, hide redactor) {
	for _, p := range found {
		if !e.panicsAnyway(p, hide) {
			e.AddWithoutFault(scenario, verdict.FromPanics([]oracle.GoPanic{p}).Redact(hide.text))
		}
	}
}

// panicsAnyway reports whether the same panic occurred in a run without a fault. Panics are compared by their source
// line, or by their value if the log has no stack trace.
func (e *Explorer) panicsAnyway(p oracle.GoPanic, hide redactor) bool {
	if p.Source != "" {
		p.Value = ""
	}
	known := hide.text(p.String())
	return slices.ContainsFunc(e.WithoutFault(), func(noted results.FindingWithoutFault) bool {
		return noted.Oracle == verdict.Panics && (noted.Message == known || p.Source != "" && strings.HasPrefix(noted.Message, known+": "))
	})
}
