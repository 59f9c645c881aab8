package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/verdict"
)

// FailureText returns the headline, the findings in fault-free runs, and one example per cause with its findings and
// the command to rerun it. For unstable and unconfirmed causes, it omits the findings.
func (e Exploration) FailureText() string {
	var out strings.Builder
	if e.HasFailed() {
		fmt.Fprintf(&out, "%s\n\n", e.Headline())
	}
	for _, f := range e.WithoutFault {
		fmt.Fprintf(&out, "✗ %-8s %s\n  %-16s in %s\n\n", f.Severity(), strings.ReplaceAll(f.Message, "\n", "\n  "), "without a fault", f.Scenario)
	}
	for _, cause := range e.Causes() {
		example := e.Plans[cause.Plans[0]]
		if cause.IsDoubtful() {
			fmt.Fprintf(&out, "? %-8s %s\n  %-16s %s", cause.Standing(), cause.Symptom(), count(len(cause.Plans), "plan"), example)
			if cause.Confirmation != nil {
				fmt.Fprintf(&out, ": %s", cause.Confirmation)
			}
			fmt.Fprintf(&out, "\n  %-16s %s\n\n", "rerun", example.Rerun)
			continue
		}
		fmt.Fprintf(&out, "✗ %-8s %s\n", cause.Severity, cause.Symptom())
		for _, point := range cause.Points {
			fmt.Fprintf(&out, "  %-16s %s at %s\n", count(len(point.Plans), "plan"), strings.Join(point.Types, ", "), point.Request)
		}
		fmt.Fprintf(&out, "  %-16s %s\n%s\n", "for example", example, example.text())
	}
	return out.String()
}

// HasFailed reports whether any plan failed or any oracle reported a finding in a fault-free run.
func (e Exploration) HasFailed() bool {
	return len(e.WithoutFault) > 0 || slices.ContainsFunc(e.Plans, func(p Plan) bool { return !p.Passed })
}

// Headline returns a one-line summary, for example "1 finding without any fault: 1 panic; 2 causes behind 59
// failed plans: 1 lost, 1 unstable".
func (e Exploration) Headline() string {
	switch {
	case e.HasFailed():
		return headline(e.WithoutFault, e.Causes())
	case len(e.Plans) == 0:
		return "no plan was run"
	}
	return fmt.Sprintf("no failures in %s%s", count(len(e.Plans), "plan"), e.SoFar())
}

// SoFar returns a suffix for messages if the exploration is incomplete, and an empty string otherwise.
func (e Exploration) SoFar() string {
	if e.Interrupted {
		return " so far"
	}
	return ""
}

func headline(without []FindingWithoutFault, causes []Cause) string {
	var parts []string
	if len(without) > 0 {
		parts = append(parts, fmt.Sprintf("%s without any fault: %s", count(len(without), "finding"),
			tally(without, func(f FindingWithoutFault) string { return string(f.Severity()) })))
	}
	if len(causes) > 0 {
		plans := 0
		for _, cause := range causes {
			plans += len(cause.Plans)
		}
		parts = append(parts, fmt.Sprintf("%s behind %s: %s", count(len(causes), "cause"), count(plans, "failed plan"), tally(causes, Cause.Standing)))
	}
	return strings.Join(parts, "; ")
}

// tally returns a string such as "1 panic, 2 lost, 1 unstable". See Cause.Standing for the possible values.
func tally[T any](all []T, standing func(T) string) string {
	counts := map[string]int{}
	for _, one := range all {
		counts[standing(one)]++
	}
	var parts []string
	for _, standing := range append(slices.Clone(verdict.Severities), unconfirmed, unstable) {
		if n := counts[string(standing)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, standing))
		}
	}
	return strings.Join(parts, ", ")
}

// FindingsError is returned if an exploration has found bugs in the operator.
type FindingsError string

func (e FindingsError) Error() string { return string(e) }

// Err returns a FindingsError if there are failures with one of the given severities, including findings in fault-free
// runs. Unstable failures are ignored.
func (e Exploration) Err(severities []verdict.Severity) error {
	fails := func(oracle verdict.Oracle) bool { return slices.Contains(severities, oracle.Severity()) }
	failing := slices.DeleteFunc(e.Causes(), func(cause Cause) bool {
		return cause.Confirmation.Unstable() || !slices.ContainsFunc(cause.Oracles, fails)
	})
	without := slices.DeleteFunc(slices.Clone(e.WithoutFault), func(f FindingWithoutFault) bool { return !fails(f.Oracle) })
	if len(failing)+len(without) == 0 {
		return nil
	}
	return FindingsError(headline(without, failing))
}

// maxLines is the maximum number of lines that are printed for a finding.
const maxLines = 12

func (p Plan) text() string {
	var out strings.Builder
	row := func(title, text string) { fmt.Fprintf(&out, "  %-16s %s\n", title, text) }
	for _, finding := range p.Findings {
		lines := strings.Split(strings.TrimSpace(finding.Message), "\n")
		if len(lines) > maxLines {
			lines = append(lines[:maxLines], "…")
		}
		row(string(finding.Oracle), strings.Join(lines, "\n"+strings.Repeat(" ", 19)))
	}
	if !p.Triggered {
		row("fault", "it never triggered, so it did not cause the failure")
	}
	if p.NeedsBoth {
		row("faults", "both are required: the scenario passes with either of them")
	}
	if p.Rerun != "" {
		row("rerun", p.Rerun)
	}
	return out.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
