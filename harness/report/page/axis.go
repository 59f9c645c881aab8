package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

const (
	// plotWidth is the width of a plot in pixels. Narrow screens scroll.
	plotWidth = 1080
	// quiet is the length in milliseconds above which the axis omits an idle interval. Otherwise short events, such as a
	// crash and a restart, would be too narrow to see.
	quiet    = 120
	cutWidth = 36
	// margin is the space, in pixels, before the first mark and after the last one.
	margin = 6
)

// axis maps times in milliseconds to pixels. The scale is linear except for cuts.
type axis struct {
	segments []segment
}

type segment struct {
	from, to float64 // in milliseconds
	x, width float64 // in pixels
	isCut    bool
}

// newAxis returns an axis for the given runs. Intervals in which all runs are idle are cut.
func newAxis(runs ...*results.Run) axis {
	var moments []float64
	for _, r := range runs {
		if r != nil {
			moments = append(moments, momentsOf(r)...)
		}
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	if len(moments) == 0 {
		moments = []float64{0, 1}
	}
	var a axis
	busy, cuts := 0.0, 0
	for i, to := range moments[1:] {
		from := moments[i]
		isCut := to-from > quiet
		if last := len(a.segments) - 1; last >= 0 && !isCut && !a.segments[last].isCut {
			a.segments[last].to = to
		} else {
			a.segments = append(a.segments, segment{from: from, to: to, isCut: isCut})
		}
		if isCut {
			cuts++
		} else {
			busy += to - from
		}
	}
	scale := 0.0
	if busy > 0 {
		scale = max(0.05, (plotWidth-2*margin-float64(cuts)*cutWidth)/busy)
	}
	x := float64(margin)
	for i := range a.segments {
		s := &a.segments[i]
		s.x, s.width = x, cutWidth
		if !s.isCut {
			s.width = (s.to - s.from) * scale
		}
		x += s.width
	}
	return a
}

// momentsOf returns the times of all events in a run. It ignores reads, because polling operators read continuously.
func momentsOf(r *results.Run) []float64 {
	moments := []float64{0, r.Ended}
	for _, s := range r.Steps {
		moments = append(moments, s.From, s.To)
	}
	for _, i := range r.Instances {
		moments = append(moments, i.From, i.To)
	}
	for _, q := range r.Requests {
		if q.IsWrite() {
			moments = append(moments, q.At, q.At+q.Took)
		}
	}
	for _, v := range r.Versions {
		moments = append(moments, v.At)
	}
	for _, w := range r.Withheld {
		moments = append(moments, w.From, w.To)
	}
	for _, triggered := range []*float64{r.Triggered, r.Second} {
		if triggered != nil {
			moments = append(moments, *triggered)
		}
	}
	return moments
}

func (a axis) x(at float64) float64 {
	i, _ := slices.BinarySearchFunc(a.segments, at, func(s segment, at float64) int { return cmp.Compare(s.to, at) })
	if i == len(a.segments) {
		return a.end()
	}
	s := a.segments[i]
	if at <= s.from || s.to == s.from {
		return s.x
	}
	return s.x + (at-s.from)/(s.to-s.from)*s.width
}

func (a axis) end() float64 {
	if len(a.segments) == 0 {
		return margin
	}
	last := a.segments[len(a.segments)-1]
	return last.x + last.width
}

type tick struct {
	X    px
	Text string
}

const labelWidth = 64

// ticks returns the labels of the axis. There is one at the start of each segment and at round times, if there is
// enough space.
func (a axis) ticks() []tick {
	var all []tick
	free := 0.0
	add := func(at float64, text string) {
		if x := a.x(at); x >= free && (x == margin || x <= a.end()-labelWidth/2) {
			all = append(all, tick{px(x), text})
			free = x + labelWidth
		}
	}
	for _, s := range a.segments {
		if s.isCut {
			continue
		}
		add(s.from, sinceStart(s.from))
		step := roundStep((s.to - s.from) / max(1, s.width/110))
		for at := step * float64(int(s.from/step)+1); at < s.to; at += step {
			add(at, sinceStart(at))
		}
	}
	return all
}

// roundStep returns the smallest value in the sequence 1, 2, 5, 10, 20, … that is not less than atLeast.
func roundStep(atLeast float64) float64 {
	for step := 1.0; ; step *= 10 {
		for _, factor := range []float64{1, 2, 5} {
			if step*factor >= atLeast {
				return step * factor
			}
		}
	}
}

type cut struct {
	X, Width px
	Text     string
}

func (a axis) cuts() []cut {
	var all []cut
	for _, s := range a.segments {
		if s.isCut {
			all = append(all, cut{px(s.x), px(s.width), duration(s.to - s.from)})
		}
	}
	return all
}

func sinceStart(ms float64) string {
	if ms > -0.5 && ms < 0.5 {
		return "0"
	}
	if ms > -1000 && ms < 1000 {
		return strings.Replace(fmt.Sprintf("%.0f ms", ms), "-", "−", 1)
	}
	digits := 2
	if ms >= 10_000 {
		digits = 0
	}
	return strings.Replace(fmt.Sprintf("%.*f s", digits, ms/1000), "-", "−", 1)
}

func duration(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.1fs", ms/1000)
}

// px is a length in pixels, which is formatted with one decimal place.
type px float64

func (p px) String() string { return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(p)), ".0") }
