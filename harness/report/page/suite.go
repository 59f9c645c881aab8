package page

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/report/results"
)

// suite is what the page shows of a suite.
type suite struct {
	entry
	Facts                  []fact
	Errors                 []string
	Changes                []change
	Clock                  *plot
	Slowest                []test
	Tests                  []test
	Failed, Missed, Passed int
}

// test is one scenario or spec.
type test struct {
	results.Test
	ID, State, Sign, Took, Search string
	Share                         px     // of the slowest test's time, in percent
	Link                          string // to the artifacts, from the page; empty if they are elsewhere
}

// change is what differs from a previous run.
type change struct {
	What  string
	Tests []string
}

// slowest is how many of the slowest tests the page lists.
const slowest = 10

// newSuite prepares a suite for the page. id begins the IDs of its elements, folder is where its artifacts are, as seen
// from the page. baseline is a previous run, or nil.
func newSuite(id string, s *results.Suite, folder string, baseline *results.Suite) *suite {
	v := &suite{entry: entry{ID: id, Title: s.Name, HasFailed: s.HasFailed()}, Errors: s.Errors}
	longest := 0.0
	for _, t := range s.Tests {
		longest = max(longest, t.Seconds)
	}
	for i, t := range s.Tests {
		shown := newTest(fmt.Sprintf("%s-t%d", id, i+1), t, folder)
		if longest > 0 {
			shown.Share = px(100 * t.Seconds / longest)
		}
		v.Tests = append(v.Tests, shown)
		switch shown.State {
		case failed:
			v.Failed++
		case missed:
			v.Missed++
		default:
			v.Passed++
		}
	}
	v.Verdict = fmt.Sprintf("%d of %d tests failed", v.Failed, len(s.Tests))
	switch {
	case v.Failed == 0 && len(s.Errors) > 0:
		v.Verdict = "it failed outside of any test"
	case len(s.Tests) == 0:
		v.Verdict = "no test was run"
	case v.Failed == 0:
		v.Verdict = fmt.Sprintf("all %d tests passed", v.Passed)
	}
	v.Facts = suiteFacts(s)
	v.Clock = newClock(s)
	v.Slowest = slices.DeleteFunc(slices.Clone(v.Tests), func(t test) bool { return t.State == missed })
	slices.SortStableFunc(v.Slowest, func(a, b test) int { return cmp.Compare(b.Seconds, a.Seconds) })
	v.Slowest = v.Slowest[:min(slowest, len(v.Slowest))]
	rank := map[string]int{failed: 0, passed: 1, missed: 2}
	slices.SortStableFunc(v.Tests, func(a, b test) int { return cmp.Compare(rank[a.State], rank[b.State]) })
	if baseline != nil {
		v.Changes = changes(baseline, s)
	}
	return v
}

func newTest(id string, t results.Test, folder string) test {
	v := test{Test: t, ID: id, State: passed, Took: results.Millis(t.Seconds * 1000), Search: strings.ToLower(t.Name)}
	switch t.Outcome {
	case results.Failed:
		v.State = failed
	case results.Skipped:
		v.State = missed
	}
	v.Sign = signs[v.State]
	if name := filepath.Base(t.Artifacts); t.Artifacts != "" && !strings.ContainsAny(name, " ,:") {
		v.Link = path.Join(folder, name)
	}
	return v
}

// suiteFacts say where the time went.
func suiteFacts(s *results.Suite) []fact {
	facts := []fact{
		{"tests", fmt.Sprint(len(s.Tests))},
		{"took", results.Millis(s.Seconds * 1000)},
		{"started", s.Started.UTC().Format("2006-01-02 15:04 UTC")},
	}
	lasted := map[string]float64{} // the longest, of those that processes do beside each other
	for _, p := range s.Phases {
		lasted[p.Name] = max(lasted[p.Name], p.Seconds)
	}
	for _, p := range s.Phases {
		if lasted[p.Name] >= 0.1 {
			facts = append(facts, fact{p.Name, results.Millis(lasted[p.Name] * 1000)})
		}
		delete(lasted, p.Name)
	}
	summed := 0.0
	for _, t := range s.Tests {
		summed += t.Seconds
	}
	return append(facts, fact{"tests, summed", results.Millis(summed * 1000)})
}

// slower is how much more time a test must take, as a factor and in seconds, to be listed: less is the machine's.
const (
	slowerFactor  = 1.5
	slowerSeconds = 1
)

// changes compares a run with a previous one.
func changes(before, now *results.Suite) []change {
	was := map[string]results.Test{}
	for _, t := range before.Tests {
		was[t.Name] = t
	}
	var broken, fixed, slow []string
	for _, t := range now.Tests {
		b, known := was[t.Name]
		switch {
		case t.Outcome == results.Failed && b.Outcome != results.Failed:
			broken = append(broken, t.Name)
		case known && t.Outcome == results.Passed && b.Outcome == results.Failed:
			fixed = append(fixed, t.Name)
		case known && t.Outcome == b.Outcome && t.Seconds > slowerFactor*b.Seconds && t.Seconds > b.Seconds+slowerSeconds:
			slow = append(slow, fmt.Sprintf("%s, %s instead of %s", t.Name, results.Millis(t.Seconds*1000), results.Millis(b.Seconds*1000)))
		}
	}
	var all []change
	for _, c := range []change{{"new failures", broken}, {"fixed", fixed}, {"slower", slow}} {
		if len(c.Tests) > 0 {
			all = append(all, c)
		}
	}
	return all
}

const (
	clockRow   = 18 // the height of a row of tests
	clockStart = 26 // below the axis
)

// newClock draws the tests as bars on the wall clock, those that ran at the same time below each other.
func newClock(s *results.Suite) *plot {
	if !slices.ContainsFunc(s.Tests, func(t results.Test) bool { return t.From > 0 }) {
		return nil // the times are not known
	}
	end := s.Seconds
	for _, t := range s.Tests {
		end = max(end, t.From+t.Seconds)
	}
	const width = plotWidth + 140 // the page, on a screen of 1,280 pixels
	a := axis{segments: []segment{{from: 0, to: end * 1000, x: margin, width: width - 2*margin}}}
	p := &plot{Label: "the tests on the wall clock", Width: width, Ticks: a.ticks()}
	d := &drawing{plot: p, axis: a, y: clockStart}
	var free []float64 // when the last test of each row ends
	place := func(from, to float64) float64 {
		row := slices.IndexFunc(free, func(end float64) bool { return end <= from })
		if row < 0 {
			row, free = len(free), append(free, 0)
		}
		free[row] = to
		return clockStart + clockRow*float64(row)
	}
	for _, phase := range s.Phases {
		to := phase.From + phase.Seconds
		d.span(place(phase.From, to), clockRow-3, phase.From*1000, to*1000, 2, "phase", phase.Name, phase.Name+", "+results.Millis(phase.Seconds*1000))
	}
	tests := slices.SortedStableFunc(slices.Values(s.Tests), func(a, b results.Test) int { return cmp.Compare(a.From, b.From) })
	for _, t := range tests {
		if t.Outcome == results.Skipped {
			continue
		}
		to := t.From + t.Seconds
		y := place(t.From, to)
		class := "state"
		if t.Outcome == results.Failed {
			class = "failed"
		}
		d.span(y, clockRow-3, t.From*1000, to*1000, 2, class, t.Name, t.Name+", "+t.Outcome+" after "+results.Millis(t.Seconds*1000))
		for _, step := range t.Steps {
			text := t.Name + ": " + step.Name + ", " + results.Millis(step.Seconds*1000)
			class := "step"
			if step.Failed {
				class = "step refused"
			}
			d.span(y+clockRow-6, 3, step.From*1000, (step.From+step.Seconds)*1000, 1, class, "", text)
		}
	}
	p.Height = px(clockStart + clockRow*float64(len(free)) + margin)
	d.run.Bottom = p.Height
	p.Runs = []runPlot{d.run}
	return p
}

// MissedName is what the page calls tests that could not run.
func (v *suite) MissedName() string { return results.Skipped }
