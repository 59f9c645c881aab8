package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/verdict"
)

// FindingWithoutFault is a finding in a fault-free run.
type FindingWithoutFault struct {
	Scenario string `json:"scenario"`
	verdict.Finding
}

// Title returns the first line of the message.
func (f FindingWithoutFault) Title() string {
	first, _, _ := strings.Cut(f.Message, "\n")
	return first
}

// Details returns the message without its first line.
func (f FindingWithoutFault) Details() string {
	_, rest, _ := strings.Cut(f.Message, "\n")
	return rest
}

// Severity returns the severity of the finding.
func (f FindingWithoutFault) Severity() verdict.Severity { return f.Oracle.Severity() }

func (f FindingWithoutFault) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "✗ %-8s %s\n", f.Severity(), f.Title())
	for line := range strings.Lines(f.Details()) {
		fmt.Fprintf(&text, "  %s\n", strings.TrimRight(line, "\n"))
	}
	fmt.Fprintf(&text, "  %-16s in %s\n", "without a fault", f.Scenario)
	return text.String()
}

// addWithoutFault adds the findings whose cause is new. The same bug may show up in several scenarios and shards.
func (e *Exploration) addWithoutFault(more []FindingWithoutFault) {
	for _, f := range more {
		if !slices.ContainsFunc(e.WithoutFault, func(known FindingWithoutFault) bool { return known.Cause() == f.Cause() }) {
			e.WithoutFault = append(e.WithoutFault, f)
		}
	}
}

// headlineWithoutFault returns a string such as "2 findings without any fault: 1 panic, 1 lost".
func headlineWithoutFault(all []FindingWithoutFault) string {
	counts := map[string]int{}
	for _, f := range all {
		counts[string(f.Severity())]++
	}
	return fmt.Sprintf("%s without any fault: %s", count(len(all), "finding"), bySeverity(counts))
}
