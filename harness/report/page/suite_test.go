package page

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

// ran is a suite of which one test failed.
func ran() *results.Suite {
	s := &results.Suite{
		Name: "e2e-kind", Started: time.Unix(0, 0), Seconds: 60,
		Phases: []results.TestStep{{Name: "cluster", Seconds: 12}, {Name: "images", From: 12, Seconds: 3}},
		Tests: []results.Test{{
			Name: "webserver/heal-service", From: 16, Seconds: 20, Outcome: results.Failed, Failure: "ServiceIsRestored after 20s: not found\nlast seen nothing",
			Artifacts: "_artifacts/e2e-kind/webserver-heal-service", Rerun: "make e2e FOCUS=webserver/heal-service", Source: "test/e2e/x_test.go:3",
			Steps: []results.TestStep{{Name: "DeleteService", From: 16, Seconds: 1}, {Name: "ServiceIsRestored", From: 17, Seconds: 19, Failed: true}},
		}},
	}
	for i := range 20 {
		s.Tests = append(s.Tests, results.Test{Name: fmt.Sprintf("webserver/scenario-%d", i), From: 16 + float64(i), Seconds: 1.5 + float64(i%7), Outcome: results.Passed})
	}
	s.Tests = append(s.Tests, results.Test{Name: "webserver/load", Outcome: results.Skipped, Failure: "no containers"})
	return s
}

// measured is a bench with two sizes.
func measured() *results.Bench {
	b := &results.Bench{Kubernetes: "v1.37.0", CPUs: 2, Exceeded: []string{"100 Memcacheds, create: 5 requests per resource, 4 are allowed"}}
	for _, count := range []int{100, 1000} {
		phase := results.BenchPhase{Resources: count, PodsReady: 8, StatusRight: 10}
		phase.Requests.Writes, phase.Requests.Events, phase.Memory.RSS = 4*count, count, uint64(60<<20+count<<15)
		ideal := results.BenchPhase{Resources: count, PodsReady: 6}
		ideal.Requests.Writes = 2 * count
		for i := range 11 {
			phase.Curve = append(phase.Curve, results.BenchPoint{Seconds: float64(i), Ready: min(count, i*count/8), Right: i * count / 10})
			ideal.Curve = append(ideal.Curve, results.BenchPoint{Seconds: float64(i) * 0.6, Ready: i * count / 10})
		}
		b.Sizes = append(b.Sizes, results.BenchSize{
			Kind: "Memcached", Count: count, Budgets: map[string]float64{"create": 4},
			Operator: map[string]results.BenchPhase{"create": phase, "idle": {Resources: count, Memory: phase.Memory}},
			Ideal:    map[string]results.BenchPhase{"create": ideal},
		})
	}
	return b
}

func TestASuiteIsComparedWithAPreviousRun(t *testing.T) {
	before, now := ran(), ran()
	now.Tests[1].Outcome, before.Tests[2].Outcome = results.Failed, results.Failed
	now.Tests[3].Seconds, before.Tests[3].Seconds = 9, 2
	now.Tests[4].Seconds, before.Tests[4].Seconds = 0.9, 0.2 // the machine's
	got := fmt.Sprint(changes(before, now))
	const want = "[{new failures [webserver/scenario-0]} {fixed [webserver/scenario-1]} {slower [webserver/scenario-2, 9.0 s instead of 2.0 s]}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatWasSkippedIsNotSlow(t *testing.T) {
	s := newSuite("s", &results.Suite{Tests: []results.Test{{Name: "a", Outcome: results.Skipped}, {Name: "b", Outcome: results.Passed, Seconds: 1}}}, "", nil)
	if len(s.Slowest) != 1 || s.Slowest[0].Name != "b" {
		t.Errorf("got %+v", s.Slowest)
	}
}

func TestTestsThatRunBesideEachOtherAreDrawnBelowEachOther(t *testing.T) {
	clock := newClock(&results.Suite{Seconds: 10, Tests: []results.Test{
		{Name: "a", From: 1, Seconds: 4}, {Name: "b", From: 2, Seconds: 4}, {Name: "c", From: 5, Seconds: 4},
	}})
	bars := clock.Runs[0].Bars
	if len(bars) != 3 || bars[0].Y == bars[1].Y || bars[0].Y != bars[2].Y || bars[2].X < bars[0].X+bars[0].Width-0.01 {
		t.Errorf("got %+v", bars)
	}
	if newClock(&results.Suite{Tests: []results.Test{{Name: "a", Seconds: 3}}}) != nil {
		t.Error("tests without times are drawn")
	}
}

func TestABenchIsDrawnBesideTheIdealClient(t *testing.T) {
	b := newBench("b", measured())
	first := b.Sizes[0]
	if b.Verdict != "1 budget is exceeded" || len(b.Memory.Lines) != 1 || len(b.Memory.Ticks) != 2 || len(first.Curves) != 1 || len(first.Curves[0].Lines) != 3 {
		t.Fatalf("got %+v", b)
	}
	create := first.Costs[0]
	if create.Operator != "5.00" || create.Ideal != "2.00" || create.Budget != "4" || !create.IsOver || create.OperatorShare != 100 || create.Allowed != 80 {
		t.Errorf("got %+v", create)
	}
	if !slices.ContainsFunc(first.Curves[0].Lines, func(l line) bool { return strings.HasPrefix(l.Text, "ideal client") }) {
		t.Errorf("got %+v", first.Curves[0].Lines)
	}
}

func TestTheBrowserShowsSuitesAndTheBench(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	content := Content{Explorations: []*results.Exploration{explored(3, 30)}, Suites: []Suite{{Suite: ran(), Folder: "e2e-kind", Baseline: ran()}}, Benches: []*results.Bench{measured()}}
	if err := content.Write(path); err != nil {
		t.Fatal(err)
	}
	for name, width := range map[string]int64{"wide": 1600, "phone": 375} {
		t.Run(name, func(t *testing.T) {
			b := open(t, path, width, false)
			b.screenshot(name + "-suites")
			// From the overview a click leads to the suite, and another opens its failure.
			b.click("nav a[href='#s1']")
			b.click("#s1 .plan.failed summary")
			b.until(`document.querySelector("#s1 .plan.failed").open`)
			if link := evaluate[string](b, `document.querySelector("#s1 .plan.failed .facts a").getAttribute("href")`); link != "e2e-kind/webserver-heal-service" {
				t.Errorf("the link to the artifacts is %s", link)
			}
			b.screenshot(name + "-suite-failure")
			b.script(`document.querySelector("#b1").scrollIntoView()`)
			b.screenshot(name + "-bench")
			const beside = `(() => {
				const [bar, limit] = [".ours", ".limit"].map((what) => document.querySelector("#b1 .bars " + what).getBoundingClientRect());
				return limit.left - bar.left - 0.8 * bar.width
			})()` // the budget is 4 of 5
			if off := evaluate[float64](b, beside); off < -2 || off > 2 {
				t.Errorf("the budget is drawn %g pixels from where the bar has its value", off)
			}
			if wide := evaluate[int64](b, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("the page is %d pixels wide, and scrolls on a screen of %d", wide, width)
			}
			b.checkCalm()
			b.checkAccessible()
		})
	}
}
