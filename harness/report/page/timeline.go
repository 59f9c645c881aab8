package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

// Heights in pixels, except for maxRows.
const (
	axisHeight  = 26
	titleHeight = 24
	laneHeight  = 22
	rowHeight   = 9  // height of a row of requests
	maxRows     = 4  // maximum number of rows for overlapping requests in a lane
	gapHeight   = 10 // between two runs
)

type plot struct {
	Label         string
	Width, Height px
	Ticks         []tick
	Cuts          []cut
	Labels        []laneLabel
	Runs          []runPlot
}

type laneLabel struct {
	Text   string
	Height px
	Class  string
}

type runPlot struct {
	Top, Bottom px
	Lines       []px // bottom edges of the lanes
	Bars        []bar
	Dots        []dot
	Bands       []bar
	Faults      []mark
}

type mark struct {
	X, Y px
	Text string
}

type bar struct {
	mark
	Width, Height px
	Class         string
	Caption       string
}

type dot struct {
	mark
	Class string
}

func newPlot(run, reference *results.Run, faults ...string) *plot {
	a := newAxis(run, reference)
	p := &plot{Label: strings.Join(faults, ", then ") + ", above the reference", Width: px(a.end() + margin), Ticks: a.ticks(), Cuts: a.cuts()}
	p.Labels = append(p.Labels, laneLabel{"", axisHeight, ""})
	kinds := kindsOf(run, reference)
	top := p.draw(a, axisHeight, run, kinds, "with the fault", faults...)
	if reference != nil {
		p.Labels = append(p.Labels, laneLabel{"", gapHeight, ""})
		top = p.draw(a, top+gapHeight, reference, kinds, "reference")
	}
	p.Height = px(top)
	return p
}

// kindsOf returns the kinds of all objects that changed, in order of appearance.
func kindsOf(runs ...*results.Run) []string {
	var kinds []string
	for _, r := range runs {
		if r == nil {
			continue
		}
		for _, v := range r.Versions {
			if !slices.Contains(kinds, v.Kind) {
				kinds = append(kinds, v.Kind)
			}
		}
	}
	return kinds
}

// draw draws the lanes of a run. It returns the position of the bottom edge.
func (p *plot) draw(a axis, top float64, r *results.Run, kinds []string, title string, faults ...string) float64 {
	d := &drawing{plot: p, axis: a, run: runPlot{Top: px(top)}, y: top}
	d.lane(title, titleHeight, "title")
	d.steps(r)
	d.instances(r)
	d.requests("writes", r.Requests, results.Request.IsWrite)
	d.requests("reads", r.Requests, func(q results.Request) bool { return !q.IsWrite() })
	d.versions(r.Versions, kinds)
	d.run.Bottom = px(d.y)
	for _, w := range r.Withheld {
		d.run.Bands = append(d.run.Bands, bar{
			mark:  mark{px(a.x(w.From)), px(top + titleHeight), between(w.From, w.To) + w.String()},
			Width: px(a.x(w.To) - a.x(w.From)), Height: px(d.y - top - titleHeight), Class: "withheld", Caption: fitting(w.String(), a.x(w.To)-a.x(w.From)),
		})
	}
	for i, fault := range faults {
		if triggered := [...]*float64{r.Triggered, r.Second}[i]; triggered != nil {
			d.run.Faults = append(d.run.Faults, mark{px(a.x(*triggered)), px(top), sinceStart(*triggered) + ": " + fault})
		}
	}
	p.Runs = append(p.Runs, d.run)
	return d.y
}

type drawing struct {
	plot *plot
	axis axis
	run  runPlot
	y    float64 // top edge of the next lane
}

// lane adds a lane and returns the position of its top edge.
func (d *drawing) lane(name string, height float64, class string) float64 {
	d.plot.Labels = append(d.plot.Labels, laneLabel{name, px(height), class})
	top := d.y
	d.y += height
	d.run.Lines = append(d.run.Lines, px(d.y))
	return top
}

func (d *drawing) span(y, height, from, to, narrowest float64, class, caption, text string) {
	x := d.axis.x(from)
	width := max(narrowest, d.axis.x(to)-x)
	d.run.Bars = append(d.run.Bars, bar{
		mark: mark{px(x), px(y), text}, Width: px(width), Height: px(height), Class: class, Caption: fitting(caption, width),
	})
}

func fitting(caption string, width float64) string {
	const perCharacter, fewest = 6.2, 4
	room := int((width - 8) / perCharacter)
	runes := []rune(caption)
	switch {
	case len(runes) <= room:
		return caption
	case room < fewest:
		return ""
	}
	return string(runes[:room-1]) + "…"
}

func (d *drawing) steps(r *results.Run) {
	y := d.lane("scenario", laneHeight, "")
	for _, s := range r.Steps {
		class, what := "state", "wait for "
		switch {
		case s.Failed != "":
			class, what = "failed", "failed: "
		case s.IsAction:
			class, what = "action", ""
		}
		text := fmt.Sprintf("%s%s, %s", between(s.From, s.To), what+s.Name, results.Millis(s.To-s.From))
		if s.Failed != "" {
			first, _, _ := strings.Cut(s.Failed, "\n")
			text += ": " + first
		}
		d.span(y+3, laneHeight-6, s.From, s.To, 2, class, s.Name, text)
	}
}

func (d *drawing) instances(r *results.Run) {
	y := d.lane("operator", laneHeight, "")
	for i, instance := range r.Instances {
		name := fmt.Sprintf("instance %d", i+1)
		text := fmt.Sprintf("%s%s of the operator, %s", between(instance.From, instance.To), name, instance.End)
		d.span(y+6, laneHeight-12, instance.From, instance.To, 3, "alive", "", text)
		if instance.End != results.Stopped {
			d.run.Dots = append(d.run.Dots, dot{mark{px(d.axis.x(instance.To)), px(y + laneHeight/2), fmt.Sprintf("%s: %s %s", sinceStart(instance.To), name, instance.End)}, "crash"})
		}
	}
}

// requests draws a lane of requests. Overlapping requests are drawn in separate rows.
func (d *drawing) requests(name string, all []results.Request, keep func(results.Request) bool) {
	var rows []float64 // end of the last request in each row
	var kept []results.Request
	var row []int
	for _, q := range all {
		if !keep(q) {
			continue
		}
		x := d.axis.x(q.At)
		i := slices.IndexFunc(rows, func(end float64) bool { return end <= x })
		switch {
		case i >= 0:
		case len(rows) < maxRows:
			i = len(rows)
			rows = append(rows, 0)
		default:
			i = len(kept) % maxRows
		}
		rows[i] = max(x+3, d.axis.x(q.At+q.Took)) + 1
		kept, row = append(kept, q), append(row, i)
	}
	height := max(laneHeight, 4+rowHeight*float64(len(rows)))
	y := d.lane(name, height, "")
	for i, q := range kept {
		class := "read"
		switch {
		case q.IsRefused():
			class = "refused"
		case q.IsWrite():
			class = "write"
		}
		d.span(y+2+(height-4-rowHeight*float64(max(1, len(rows))))/2+rowHeight*float64(row[i]), rowHeight-1, q.At, q.At+q.Took, 3, class, "", sinceStart(q.At)+": "+q.String())
	}
}

func (d *drawing) versions(all []results.Version, kinds []string) {
	for _, kind := range kinds {
		y := d.lane(kind, laneHeight, "kind")
		for _, v := range all {
			if v.Kind != kind {
				continue
			}
			text := fmt.Sprintf("%s: %s %s %s", sinceStart(v.At), v.Kind, v.Name, v.Change)
			if len(v.Fields) > 0 {
				text += ": " + strings.Join(v.Fields, ", ")
			}
			d.run.Dots = append(d.run.Dots, dot{mark{px(d.axis.x(v.At)), px(y + laneHeight/2), text}, v.Change})
		}
	}
}

// between formats an interval for use at the beginning of a description.
func between(from, to float64) string { return sinceStart(from) + " to " + sinceStart(to) + ": " }
