package results

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table counts the plans by scenario and category. Passed plans whose fault did not trigger are counted separately.
func (e Exploration) Table() string {
	type row struct{ scenario, category string }
	type sum struct {
		plans, failed, untriggered int
		seconds                    float64
	}
	var rows []row
	sums := map[row]*sum{}
	total := &sum{}
	for _, p := range e.Plans {
		key := row{p.Scenario, p.Category}
		if sums[key] == nil {
			sums[key] = &sum{}
			rows = append(rows, key)
		}
		for _, s := range []*sum{sums[key], total} {
			s.plans++
			s.seconds += p.Seconds
			switch p.State() {
			case Failed:
				s.failed++
			case Missed:
				s.untriggered++
			}
		}
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCENARIO\tFAULTS\tPLANS\tFAILED\tUNTRIGGERED\tSECONDS")
	line := func(r row, s *sum) {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%.1f\n", r.scenario, r.category, s.plans, s.failed, s.untriggered, s.seconds)
	}
	for _, key := range rows {
		line(key, sums[key])
	}
	line(row{scenario: "total"}, total)
	_ = table.Flush() // writing to a strings.Builder cannot fail
	return out.String()
}
