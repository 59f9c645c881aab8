package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

// timeline lists the events of a run. Successful reads are omitted, because polling operators read continuously.
type timeline struct {
	Title  string
	Events []event
}

type event struct {
	At    float64 // in milliseconds
	Class string  // for the style sheet
	Text  string
}

func newTimeline(title string, r *results.Run, faults ...string) timeline {
	t := timeline{Title: title}
	add := func(at float64, class, format string, args ...any) {
		t.Events = append(t.Events, event{at, class, fmt.Sprintf(format, args...)})
	}
	for i, fault := range faults {
		if triggered := [...]*float64{r.Triggered, r.Second}[i]; triggered != nil {
			add(*triggered, "fault", "fault: %s", fault)
		}
	}
	for _, s := range r.Steps {
		took := results.Millis(s.To - s.From)
		switch {
		case s.Failed != "":
			first, _, _ := strings.Cut(s.Failed, "\n")
			add(s.To, "failed", "%s failed after %s: %s", s.Name, took, first)
		case s.IsAction:
			add(s.From, "action", "%s, %s", s.Name, took)
		default:
			add(s.From, "state", "wait for %s, %s", s.Name, took)
		}
	}
	for i, instance := range r.Instances {
		add(instance.From, "state", "instance %d of the operator starts", i+1)
		if instance.End != results.Stopped {
			add(instance.To, "failed", "instance %d %s", i+1, instance.End)
		}
	}
	for _, q := range r.Requests {
		if q.IsRefused() {
			add(q.At, "failed", "%s", q)
		} else if q.IsWrite() {
			add(q.At, "write", "%s", q)
		}
	}
	for _, v := range r.Versions {
		text := fmt.Sprintf("%s %s %s", v.Kind, v.Name, v.Change)
		if len(v.Fields) > 0 {
			text += ": " + strings.Join(v.Fields, ", ")
		}
		add(v.At, v.Change, "%s", text)
	}
	for _, w := range r.Withheld {
		add(w.From, "withheld", "%s until %s", w, results.Millis(w.To))
	}
	if r.Omitted > 0 {
		add(r.Ended, "state", "omitted similar requests, including reads: %d", r.Omitted)
	}
	slices.SortStableFunc(t.Events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	return t
}
