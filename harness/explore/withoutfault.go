package explore

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

type findingsWithoutFault struct {
	printf func(format string, args ...any) // nil if the Explorer was not created by New
	mu     sync.Mutex
	found  []results.FindingWithoutFault
	panics sync.Map // contains the panicKey of each panic in found
}

func (w *findingsWithoutFault) all() []results.FindingWithoutFault {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(slices.Values(w.found), func(a, b results.FindingWithoutFault) int {
		return cmp.Or(strings.Compare(a.Scenario, b.Scenario), strings.Compare(a.Message, b.Message))
	})
}

func (w *findingsWithoutFault) add(scenario string, found verdict.Finding) {
	w.mu.Lock()
	known := slices.ContainsFunc(w.found, func(f results.FindingWithoutFault) bool { return f.Cause() == found.Cause() })
	if !known {
		w.found = append(w.found, results.FindingWithoutFault{Scenario: scenario, Finding: found})
	}
	w.mu.Unlock()
	if !known && w.printf != nil {
		w.printf("%s: found in a fault-free run: %s", scenario, found.Message)
	}
}

// addStuck records the objects whose deletion has not finished at the end of a fault-free run.
func (w *findingsWithoutFault) addStuck(scenario string, r *recording, hide redact.Redactor) {
	for _, stuck := range r.outcome.stuck {
		found := verdict.FromStuckDeletion(stuck, refused(r.injector.Requests.Requests(), hide))
		w.add(scenario, found.Redact(hide.Text).Redact(r.withoutNamespace))
	}
}

// newPanics returns the panics in a run's log that do not occur in fault-free runs. If the run itself is fault-free, it
// records the panics as findings and returns all of them.
func (w *findingsWithoutFault) newPanics(plan Plan, log string, hide redact.Redactor) []oracle.GoPanic {
	found := oracle.Panics(log)
	if plan.Fault.Type == fault.None {
		w.addPanics(plan.Scenario, found, hide)
		return found
	}
	return slices.DeleteFunc(found, func(p oracle.GoPanic) bool {
		_, known := w.panics.Load(panicKey(p, hide))
		return known
	})
}

func (w *findingsWithoutFault) addPanics(scenario string, found []oracle.GoPanic, hide redact.Redactor) {
	for _, p := range found {
		if _, known := w.panics.LoadOrStore(panicKey(p, hide), true); !known {
			w.add(scenario, verdict.FromPanics([]oracle.GoPanic{p}).Redact(hide.Text))
		}
	}
}

// panicKey returns the source line of a panic. If the log has no stack trace, it returns the panic's value instead,
// with placeholders for numbers and Secret values, because they differ between runs.
func panicKey(p oracle.GoPanic, hide redact.Redactor) string {
	p.Value = hide.Text(p.Value)
	return cmp.Or(p.Source, p.Masked())
}
