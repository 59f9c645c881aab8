package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/operator-assay/assay/harness/report/results"
)

// table prints the results of all sizes. The columns are the operator, the ideal client, their ratio, the budget and
// the aim.
func table(out io.Writer, b *results.Bench) {
	for _, s := range b.Sizes {
		fmt.Fprintf(out, "\n%d %s of 1 Pod, Kubernetes %s, %d CPUs\n\n", s.Count, s.Kind, b.Kubernetes, b.CPUs)
		aligned := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(aligned, "\toperator\tideal client\tratio\tbudget\taim\t")
		for _, row := range rows(s) {
			fmt.Fprintln(aligned, strings.Join(row[:], "\t")+"\t")
		}
		_ = aligned.Flush() // a print error cannot be reported
	}
	for kind, slope := range b.Slopes {
		fmt.Fprintf(out, "\n%s: %.1f KiB of memory per resource; aim ≤ %g KiB\n", kind, slope, aimKiBResource)
	}
}

// row contains a label and the columns of the table.
type row [6]string

const none = "–"

// rows returns the rows for a size.
func rows(s results.BenchSize) []row {
	create, idle, scale, deleted, start := s.Operator[phaseCreate], s.Operator[phaseIdle], s.Operator[phaseScale], s.Operator[phaseDeleted], s.Operator[phaseStart]
	ideal := s.Ideal
	all := []row{
		timeRow("create: all Pods ready", create.PodsReady, ideal[phaseCreate].PodsReady, fmt.Sprintf("≤ %g ×", aimCreate)),
		timeRow("create: every status right", create.StatusRight, ideal[phaseCreate].StatusRight, fmt.Sprintf("≤ %g ×", aimCreate)),
		timeRow("scale 1→2: all Pods ready", scale.PodsReady, ideal[phaseScale].PodsReady, none),
		timeRow("scale 1→2: every status right", scale.StatusRight, ideal[phaseScale].StatusRight, none),
		timeRow("Deployment deleted: new one, p50", deleted.Healed.P50, ideal[phaseDeleted].Healed.P50, "≤ "+duration(aimHealP50)),
		timeRow("… p95", deleted.Healed.P95, ideal[phaseDeleted].Healed.P95, "≤ "+duration(aimHealP95)),
		timeRow("… status right, p50", deleted.HealedStatus.P50, ideal[phaseDeleted].HealedStatus.P50, "≤ "+duration(aimHealStatus)),
		timeRow("… p95", deleted.HealedStatus.P95, ideal[phaseDeleted].HealedStatus.P95, none),
		timeRow("start: deleted Deployments exist again", start.Repaired, 0, none),
		timeRow("start: every status right", start.StatusRight, 0, none),
	}
	for _, phase := range phases {
		all = append(all, requestsRow(s, phase))
	}
	cpuAim := none
	if s.Count == 1000 {
		cpuAim = "≤ " + duration(aimCreateCPU)
	}
	return append(all,
		row{"CPU, create", duration(create.CPU[operatorProgram]), none, none, none, cpuAim},
		row{"CPU, scale", duration(scale.CPU[operatorProgram]), none, none, none, none},
		row{"CPU, start", duration(start.CPU[operatorProgram]), none, none, none, none},
		row{"CPU of other processes, highest share", percent(others(s.Operator)), percent(others(ideal)), none, none, none},
		row{"memory after create, now (highest)", memory(idle.Memory), none, none, none, none},
		row{"memory after scale, now (highest)", memory(scale.Memory), none, none, none, none},
		row{"memory after start, now (highest)", memory(start.Memory), none, none, none, none},
	)
}

func timeRow(label string, ours, ideal float64, aim string) row {
	if ideal == 0 {
		return row{label, duration(ours), none, none, none, aim}
	}
	return row{label, duration(ours), duration(ideal), fmt.Sprintf("%.2f", ours/ideal), none, aim}
}

// requestsRow returns the row with the requests per resource in a phase: the total and, in parentheses, reads +
// writes + Events.
func requestsRow(s results.BenchSize, phase string) row {
	ours := s.Operator[phase]
	r := row{"requests per resource, " + phase, split(ours), none, none, none, none}
	if ideal, measured := s.Ideal[phase]; measured {
		r[2], r[3] = split(ideal), fmt.Sprintf("%.2f", perResource(ours)/perResource(ideal))
	}
	switch budget, mayWrite := s.Budgets[phase]; {
	case !mayWrite && !mayRead(phase):
		r[4] = "none"
	case !mayWrite:
		r[4] = "no write"
	case !mayRead(phase):
		r[4] = fmt.Sprintf("≤ %g, no read", budget)
	default:
		r[4] = fmt.Sprintf("≤ %g", budget)
	}
	if len(exceeded(s, phase)) > 0 {
		r[4] += " ✗"
	} else {
		r[4] += " ✓"
	}
	return r
}

func perResource(p results.BenchPhase) float64 {
	return float64(p.Requests.All()) / float64(p.Resources)
}

func split(p results.BenchPhase) string {
	text := fmt.Sprintf("%.2f (%s+%s+%s", perResource(p), each(p.Requests.Reads, p), each(p.Requests.Writes, p), each(p.Requests.Events, p))
	if p.Requests.Refused > 0 {
		text += fmt.Sprintf(", %s refused", each(p.Requests.Refused, p))
	}
	return text + ")"
}

// duration formats seconds.
func duration(seconds float64) string {
	switch {
	case seconds < 0.1:
		return fmt.Sprintf("%.1f ms", seconds*1000)
	case seconds < 1:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	case seconds < 100:
		return fmt.Sprintf("%.1f s", seconds)
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// others returns the highest share of CPU time that other processes used in a phase with measured times.
func others(phases costs) float64 {
	highest := 0.0
	for name, p := range phases {
		if name != phaseIdle {
			highest = max(highest, p.OthersCPU)
		}
	}
	return highest
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func memory(u results.BenchMemory) string {
	if u.RSS == 0 {
		return none
	}
	return fmt.Sprintf("%.0f (%.0f) MiB", float64(u.RSS)/(1<<20), float64(u.PeakRSS)/(1<<20))
}
