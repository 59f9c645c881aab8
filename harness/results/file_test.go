package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/verdict"
)

func failure(scenario, faultType, at string, oracle verdict.Oracle, message string) Plan {
	return Plan{Scenario: scenario, Category: "crashes", Type: faultType, At: at,
		Outcome: Outcome{Triggered: true, Findings: []verdict.Finding{{Oracle: oracle, Detail: message, Message: message}}, Seconds: 2}}
}

// exploration returns an exploration with one plan that passed, one that failed and one whose fault was not triggered.
func exploration() Exploration {
	run := &Run{
		Start: time.Unix(100, 0), Ended: 50, Triggered: new(7.0),
		Steps: []Step{{Name: "Apply", To: 3, IsAction: true}}, Instances: []Instance{{From: -5, To: 7, End: Crashed}},
		Requests: []Request{{At: 6, Took: 1, Verb: "create", Target: "configmaps"}},
		Versions: []Version{{At: 6.5, Kind: "ConfigMap", Name: "a", Change: Created}},
		Withheld: []Withheld{{Target: "pods", From: 1, To: 2}}, Log: []LogLine{{8, "began"}},
	}
	bad := failure("greeter/create", "crash-after", "create configmaps - 1", "counts", "created twice")
	bad.Findings = append(bad.Findings, verdict.Finding{Oracle: "stable", Message: "changed\x1b[31m again"})
	bad.Run = run
	return Exploration{
		Started: time.Unix(99, 0).UTC(), References: map[string]*Run{"greeter/create": run},
		Plans: []Plan{
			{Scenario: "greeter/create", Category: "latency", Type: "slow-reads", Passed: true, Outcome: Outcome{Triggered: true, Seconds: 1}}, bad,
			{Scenario: "greeter/delete", Category: "crashes", Type: "crash-before", At: "create configmaps - 1", Passed: true},
		},
	}
}

func TestExplorationRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := exploration().WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadExploration(filepath.Join(dir, ExplorationFile))
	if err != nil {
		t.Fatal(err)
	}
	want := exploration()
	want.Format = format
	one, _ := json.Marshal(got)
	other, _ := json.Marshal(want)
	if string(one) != string(other) {
		t.Errorf("got\n%s\nwant\n%s", one, other)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("got files %v (error %v), want results.json and junit.xml", files, err)
	}
}

func TestReadRejectsOtherFormats(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":1,"plans":[]}`: "has format 1, but this version of assay reads format 3: rerun",
		`{}`:                      "is not a results file",
		`{"format":3,"plans":[{"findings":[{"oracle":"guess","message":""}]}]}`: `there is no oracle "guess"`,
	} {
		path := filepath.Join(t.TempDir(), ExplorationFile)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadExploration(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got error %v, want a single line with %q", err, want)
		}
	}
}

func TestUnreadableFileIsNamed(t *testing.T) {
	_, err := MergeFolders([]string{t.TempDir()})
	if err == nil || strings.Count(err.Error(), ExplorationFile) != 1 || !strings.HasSuffix(err.Error(), ": pass a readable directory with results of assay explore") {
		t.Errorf("got error %v, want one that names %s and says what to pass", err, ExplorationFile)
	}
}
