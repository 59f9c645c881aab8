package explore

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/record"
)

// timelineRequests is how many requests before and after the fault a timeline shows.
const timelineRequests = 12

// timeline shows the operator's requests before and after the fault.
func timeline(requests record.Requests, triggeredAt time.Time, plan Plan) string {
	at := len(requests)
	if !triggeredAt.IsZero() {
		at = slices.IndexFunc(requests, func(r record.Request) bool { return r.Time.After(triggeredAt) })
		if at < 0 {
			at = len(requests)
		}
	}
	var out strings.Builder
	for i, request := range requests[max(0, at-timelineRequests):min(len(requests), at+timelineRequests)] {
		if max(0, at-timelineRequests)+i == at {
			fmt.Fprintf(&out, ">>> %s\n", plan.Fault)
		}
		fmt.Fprintln(&out, request)
	}
	return out.String()
}

// String is a failure as it is printed: the findings, the requests around the fault, and the end of the operator's
// log.
func (r Result) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "✗ %s\n", r.Plan)
	for _, finding := range r.Findings {
		fmt.Fprintf(&out, "  %-16s %s\n", finding.Oracle, indent(finding.Message))
	}
	if r.Timeline != "" {
		fmt.Fprintf(&out, "  %-16s %s\n", "requests", indent(r.Timeline))
	}
	if r.Log != "" {
		fmt.Fprintf(&out, "  %-16s %s\n", "operator's log", indent(r.Log))
	}
	return out.String()
}

// FailureReport prints the failed plans. Of failures with the same fault type, verb, target and oracles, only the
// first is printed in full. rerunCommand returns the command that plays a plan again.
func FailureReport(results []Result, rerunCommand func(Plan) string) string {
	type likeness struct{ fault, verb, target, oracles string }
	reported := map[likeness]bool{}
	var out strings.Builder
	for _, r := range results {
		if r.Passed() {
			continue
		}
		var oracles []string
		for _, finding := range r.Findings {
			oracles = append(oracles, finding.Oracle)
		}
		like := likeness{string(r.Fault.Type), r.Fault.At.Verb, r.Fault.At.Target, strings.Join(oracles, ", ")}
		if reported[like] {
			fmt.Fprintf(&out, "✗ %s\n  %-16s as above\n", r.Plan, like.oracles)
		} else {
			fmt.Fprint(&out, r)
		}
		reported[like] = true
		fmt.Fprintf(&out, "  %-16s %s\n\n", "rerun", rerunCommand(r.Plan))
	}
	return out.String()
}

func indent(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", 19))
}

// Err is an error if a plan failed.
func Err(results []Result) error {
	failed := 0
	for _, r := range results {
		if !r.Passed() {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d plans failed", failed, len(results))
	}
	return nil
}

// Table sums results up by scenario and category. A plan whose fault did not trigger counts as untriggered: it proves
// nothing.
func Table(results []Result) string {
	type row struct {
		scenario string
		category faultinject.Category
	}
	type sum struct {
		plans, failed, untriggered int
		duration                   time.Duration
	}
	var rows []row
	sums := map[row]*sum{}
	total := &sum{}
	for _, r := range results {
		key := row{r.Scenario, r.Fault.Type.Category()}
		if sums[key] == nil {
			sums[key] = &sum{}
			rows = append(rows, key)
		}
		for _, s := range []*sum{sums[key], total} {
			s.plans++
			s.duration += r.Duration
			if !r.Passed() {
				s.failed++
			} else if !r.Triggered {
				s.untriggered++
			}
		}
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCENARIO\tFAULTS\tPLANS\tFAILED\tUNTRIGGERED\tSECONDS")
	line := func(scenario string, category faultinject.Category, s *sum) {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%.1f\n", scenario, category, s.plans, s.failed, s.untriggered, s.duration.Seconds())
	}
	for _, key := range rows {
		line(key.scenario, key.category, sums[key])
	}
	line("in all", "", total)
	_ = table.Flush() // a strings.Builder never fails
	return out.String()
}

// WriteJSON writes one result per line, for programs.
func WriteJSON(out io.Writer, results []Result) error {
	encoder := json.NewEncoder(out)
	for _, r := range results {
		err := encoder.Encode(map[string]any{
			"scenario": r.Scenario, "category": r.Fault.Type.Category(), "fault": r.Fault.String(), "triggered": r.Triggered,
			"passed": r.Passed(), "findings": r.Findings, "requests": r.Requests, "seconds": r.Duration.Seconds(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
