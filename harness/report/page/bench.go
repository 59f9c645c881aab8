package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/report/results"
)

// bench is what the page shows of a run of the bench.
type bench struct {
	entry
	Facts    []fact
	Exceeded []string
	Sizes    []benchSize
	Memory   *chart // nil if one size was measured
}

type benchSize struct {
	Title  string
	Curves []curves
	Costs  []cost
}

// curves is a plot of how many resources are ready, and right, as time goes on.
type curves struct {
	chart
	Title       string
	Highest     int
	MarkedTimes []fact
}

// chart is lines with a scale below, and one at the left.
type chart struct {
	Lines []line
	Ticks []tick
	Rows  []level
}

// level is a horizontal line of a scale.
type level struct {
	Y    px
	Text string
}

// line is a polyline, and what it stands for.
type line struct {
	Class, Text, Points string
}

// cost is the requests of a phase per resource, as bars: widths are in percent.
type cost struct {
	Phase                              string
	Operator, Ideal, Budget            string
	OperatorShare, IdealShare, Allowed px
	HasIdeal, HasBudget, IsOver        bool
}

// The size of a plot of curves, in pixels.
const (
	curveWidth  = 640
	curveHeight = 180
	curveTop    = 10
	countWidth  = 60 // room for the highest count, below the plot of the memory
)

// phases are those of package bench, in their order.
var phases = []string{"create", "idle", "scale", "child deleted", "start"}

func newBench(id string, b *results.Bench) *bench {
	v := &bench{entry: entry{ID: id, Title: "bench", Verdict: "every budget is kept", HasFailed: len(b.Exceeded) > 0}, Exceeded: b.Exceeded}
	switch len(b.Exceeded) {
	case 0:
	case 1:
		v.Verdict = "1 budget is exceeded"
	default:
		v.Verdict = fmt.Sprintf("%d budgets are exceeded", len(b.Exceeded))
	}
	v.Facts = []fact{{"Kubernetes", b.Kubernetes}, {"CPUs", fmt.Sprint(b.CPUs)}}
	for _, s := range b.Sizes {
		size := benchSize{Title: fmt.Sprintf("%d %ss", s.Count, s.Kind)}
		for _, phase := range []string{"create", "scale"} {
			if c, ok := newCurves(phase, s); ok {
				size.Curves = append(size.Curves, c)
			}
		}
		size.Costs = costs(s)
		v.Sizes = append(v.Sizes, size)
	}
	v.Memory = memoryChart(b.Sizes)
	return v
}

// newCurves plots the operator and the ideal client together.
func newCurves(phase string, s results.BenchSize) (curves, bool) {
	ours, ideal := s.Operator[phase], s.Ideal[phase]
	if len(ours.Curve) == 0 {
		return curves{}, false
	}
	c := curves{Title: phase, Highest: s.Count}
	for _, count := range []int{s.Count, s.Count / 2} {
		c.Rows = append(c.Rows, level{px(height(count, s.Count)), fmt.Sprint(count)})
	}
	end := max(ours.StatusRight, ours.PodsReady, ideal.StatusRight, ideal.PodsReady)
	a := axis{segments: []segment{{from: 0, to: end * 1000, x: margin, width: curveWidth - 2*margin}}}
	c.Ticks = a.ticks()
	add := func(class, text string, points []results.BenchPoint, of func(results.BenchPoint) int) {
		if len(points) == 0 {
			return
		}
		var path strings.Builder
		for _, p := range points {
			fmt.Fprintf(&path, "%s,%s ", px(a.x(p.Seconds*1000)), px(height(of(p), s.Count)))
		}
		c.Lines = append(c.Lines, line{class, text, path.String()})
	}
	ready := func(p results.BenchPoint) int { return p.Ready }
	right := func(p results.BenchPoint) int { return p.Right }
	add("ideal", "ideal client, Pods ready", ideal.Curve, ready)
	add("ours", "operator, Pods ready", ours.Curve, ready)
	add("ours dashed", "operator, status right", ours.Curve, right)
	c.MarkedTimes = []fact{
		{"all Pods ready", results.Millis(ours.PodsReady * 1000)}, {"every status right", results.Millis(ours.StatusRight * 1000)},
		{"ideal client", results.Millis(ideal.PodsReady * 1000)},
	}
	return c, true
}

func costs(s results.BenchSize) []cost {
	each := func(p results.BenchPhase) float64 {
		return float64(p.Requests.All()) / float64(max(1, p.Resources))
	}
	highest := 0.1
	for _, phase := range phases {
		highest = max(highest, each(s.Operator[phase]), each(s.Ideal[phase]), s.Budgets[phase])
	}
	share := func(value float64) px { return px(100 * value / highest) }
	var all []cost
	for _, phase := range phases {
		ours, measured := s.Operator[phase]
		if !measured {
			continue
		}
		c := cost{Phase: phase, Operator: fmt.Sprintf("%.2f", each(ours)), OperatorShare: share(each(ours))}
		if ideal, ok := s.Ideal[phase]; ok {
			c.HasIdeal, c.Ideal, c.IdealShare = true, fmt.Sprintf("%.2f", each(ideal)), share(each(ideal))
		}
		if budget, ok := s.Budgets[phase]; ok {
			c.HasBudget, c.Budget, c.Allowed, c.IsOver = true, fmt.Sprintf("%g", budget), share(budget), each(ours) > budget
		}
		all = append(all, c)
	}
	return all
}

// height is where a value is drawn in a plot that has room for the highest.
func height[N int | uint64](value, highest N) float64 {
	return curveTop + (curveHeight-curveTop)*(1-float64(value)/float64(max(1, highest)))
}

// memoryChart plots the memory of each kind over the number of resources; nil if only one number was measured.
func memoryChart(sizes []results.BenchSize) *chart {
	byKind := map[string][]results.BenchSize{}
	var kinds []string
	var counts []int
	highest := uint64(1)
	for _, s := range sizes {
		if byKind[s.Kind] == nil {
			kinds = append(kinds, s.Kind)
		}
		byKind[s.Kind] = append(byKind[s.Kind], s)
		counts, highest = append(counts, s.Count), max(highest, s.Operator["idle"].Memory.RSS)
	}
	slices.Sort(counts)
	if counts = slices.Compact(counts); len(counts) < 2 {
		return nil
	}
	x := func(count int) px {
		return px(margin + (curveWidth-countWidth)*float64(count)/float64(slices.Max(counts)))
	}
	c := &chart{}
	for _, count := range counts {
		c.Ticks = append(c.Ticks, tick{x(count), fmt.Sprint(count)})
	}
	for _, bytes := range []uint64{highest, highest / 2} {
		c.Rows = append(c.Rows, level{px(height(bytes, highest)), fmt.Sprintf("%d MiB", bytes>>20)})
	}
	for _, kind := range kinds {
		all := slices.SortedFunc(slices.Values(byKind[kind]), func(a, b results.BenchSize) int { return cmp.Compare(a.Count, b.Count) })
		var points, text []string
		for _, s := range all {
			rss := s.Operator["idle"].Memory.RSS
			points = append(points, x(s.Count).String()+","+px(height(rss, highest)).String())
			text = append(text, fmt.Sprintf("%d: %d MiB", s.Count, rss>>20))
		}
		c.Lines = append(c.Lines, line{"ours", kind + "s, " + strings.Join(text, ", "), strings.Join(points, " ")})
	}
	return c
}
