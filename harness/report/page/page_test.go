package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func written(t *testing.T, all ...*results.Exploration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), File)
	noError(t, Write(path, all...))
	text, err := os.ReadFile(path)
	noError(t, err)
	return string(text)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// explored returns an exploration in which every third plan failed.
func explored(scenarios, plans int) *results.Exploration {
	e := &results.Exploration{About: results.About{Operator: "web"}, Started: time.Unix(0, 0), Seconds: 60, References: map[string]*results.Run{}}
	for i := range plans {
		p := results.Plan{Scenario: fmt.Sprintf("web/%d", i%scenarios), Category: "crashes", Type: "crash-after", At: fmt.Sprintf("create configmaps - %d", i), Passed: i%3 > 0, Outcome: results.Outcome{Triggered: true, Run: busy()}}
		if !p.Passed {
			p.Findings = []verdict.Finding{{Oracle: "counts", Message: fmt.Sprintf("created configmaps web-%d 2 times, but 1 times in the reference run", i%30) + strings.Repeat("\n+ more", 1000)}}
		}
		e.Plans = append(e.Plans, p)
		e.References[p.Scenario] = p.Run
	}
	return e
}

func busy() *results.Run {
	r := &results.Run{Ended: 5000, Triggered: new(700.0), Instances: []results.Instance{{From: -500, To: 700, End: results.Crashed}, {From: 900, To: 5000, End: results.Stopped}}}
	for i := range 150 {
		r.Requests = append(r.Requests, results.Request{At: float64(30 * i), Took: 5, Verb: "patch", Target: "deployments.apps", Name: "web", Status: 200})
		r.Versions = append(r.Versions, results.Version{At: float64(30*i + 3), Kind: "Deployment", Name: "web", Change: results.Changed, Fields: []string{"spec.replicas: 1 → 2"}})
	}
	return r
}

func TestPageWithManyPlansIsLimited(t *testing.T) {
	text := written(t, explored(20, 1000))
	if len(text) > 5_000_000 {
		t.Errorf("got a page of %d bytes, want at most 5 MB", len(text))
	}
	if got := strings.Count(text, ">with the fault<"); got < 30 {
		t.Errorf("got %d timelines, want at least 30", got)
	}
	if !strings.Contains(text, "failures are omitted") {
		t.Error("the page does not mention the omitted timelines")
	}
	if got := strings.Count(text, `data-state=`); got != 1000 {
		t.Errorf("got %d plans, want 1000", got)
	}
}

func TestPageEscapesText(t *testing.T) {
	const evil = `</script><script>alert("x")</script><img src=x onerror=alert(1)>'"`
	e := explored(1, 1)
	p := &e.Plans[0]
	p.Scenario, p.At, p.Rerun = evil, "create "+evil+" - 1", evil
	p.Findings = []verdict.Finding{{Oracle: verdict.Stable, Message: evil + "\n+" + evil}}
	p.Run.Steps = []results.Step{{Name: evil, To: 4000, Failed: evil}}
	p.Run.Requests = []results.Request{{Verb: "get", Target: evil, Name: evil}}
	p.Run.Versions = []results.Version{{Kind: evil, Name: evil, Change: results.Changed, Fields: []string{evil}}}
	p.Run.Withheld = []results.Withheld{{Target: evil, To: 10}}
	p.Run.Log = []results.LogLine{{Text: evil}}
	e.About = results.About{Operator: evil, Revision: evil, Source: evil}
	text := written(t, e)
	for _, tag := range []string{"<script>alert", "<img", `src="http`, "url(http"} {
		if strings.Contains(text, tag) {
			t.Errorf("the page contains %s", tag)
		}
	}
	if strings.Count(text, "&lt;img") < 10 {
		t.Error("the page does not contain the escaped text")
	}
}

func TestTimelineShowsOmittedRequests(t *testing.T) {
	const want = `<tr class="state"><td>5.00 s</td><td>omitted similar requests, including reads: 60</td></tr>`
	e := explored(1, 1)
	if strings.Contains(written(t, e), "omitted similar") {
		t.Error("the page mentions omitted requests, but there are none")
	}
	e.Plans[0].Run.Omitted = 60
	if !strings.Contains(written(t, e), want) {
		t.Errorf("the page does not contain %s", want)
	}
}

func TestHeadingIsVerdict(t *testing.T) {
	good := explored(1, 2)
	good.Plans[0].Passed, good.Plans[0].Findings = true, nil
	panicked := explored(1, 1)
	panicked.Plans[0].Passed, panicked.Plans[0].Findings = true, nil
	panicked.WithoutFault = []results.FindingWithoutFault{{Scenario: "web/create", Finding: verdict.Finding{Oracle: verdict.Panics, Message: "at web.go:3: boom\nsecond line"}}}
	text := written(t, panicked)
	for _, want := range []string{`<h1 class="bad">1 finding without any fault: 1 panic</h1>`, `at web.go:3: boom <span class="severity">panic</span>`, "<pre><span>second line\n</span></pre>", "Without any fault, in web/create"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	for heading, e := range map[string]*results.Exploration{
		"1 cause behind 1 failed plan: 1 churn": explored(1, 3), "no failures in 2 plans": good, "no plan was run": {},
	} {
		const partial = "This page is partial"
		if text := written(t, e); !strings.Contains(text, ">"+heading+"</h1>") || strings.Contains(text, partial) {
			t.Errorf("the page has no heading %q, or contains %q", heading, partial)
		}
		if e.Interrupted = true; !strings.Contains(written(t, e), partial) {
			t.Errorf("the page of an interrupted exploration does not contain %q", partial)
		}
	}
}

func TestPageShowsBothFaultsOfPair(t *testing.T) {
	e := explored(1, 1)
	p := &e.Plans[0]
	p.Category, p.Then, p.NeedsBoth, p.Run.Second = "pairs", "stale watch configmaps - 1", true, new(800.0)
	text := written(t, e)
	for _, want := range []string{
		"<b>crash-after</b> create configmaps - 0, then stale watch configmaps - 1</span>",
		`<th scope="col"><span>crash-after, then stale</span>`,
		"Both faults are required",
		"failed 1</span>", "missed 0</span>", "passed 0</span>",
		`<tr class="fault"><td>700 ms</td><td>fault: crash-after create configmaps - 0</td></tr>`,
		`<tr class="fault"><td>800 ms</td><td>fault: stale watch configmaps - 1</td></tr>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
}

func TestCheckFolderKeepsFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	kept := filepath.Join(folder, ".assay")
	noError(t, os.MkdirAll(kept, 0o755))
	if err := CheckFolder(folder); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("got %v (error %v), want only %s", entries, err, kept)
	}
}
