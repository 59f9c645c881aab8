package results

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
)

// failure is a plan that an oracle objects to.
func failure(scenario, faultType, at, oracle, message string) Plan {
	return Plan{Scenario: scenario, Category: "crashes", Type: faultType, At: at, Triggered: true, Findings: []Finding{{oracle, message}}, Seconds: 2}
}

func TestOneBugIsOneCause(t *testing.T) {
	const leftOver = "the final state differs from the reference:\n"
	plans := []Plan{
		failure("a", "crash-after", "create configmaps - 1", "counts", "created configmaps web-* 2 times, not 1 as in the reference"),
		failure("b", "lost-response", "create configmaps - 1", "counts", "created configmaps web-* 3 times, not 2 as in the reference"),
		failure("b", "crash-before", "patch webs.example.com web 2", "counts", "created configmaps web-* 10 times, not 9 as in the reference"),
		failure("c", "stale", "watch webs.example.com - 1", "reference", leftOver+"+ Deployment.apps/web is too many\n+ Pod/web-<hash>-* #1 is too many\n"),
		failure("d", "stale", "watch webs.example.com - 2", "reference", leftOver+"+ Deployment.apps/web is too many\n"),
		failure("e", "slow-reads", "", "converges", "Assert(Web a): after 20.1s: not ready"),
		failure("e", "slow-writes", "", "converges", "Assert(Web a): after 20.3s: nothing"),
		{Scenario: "f", Type: "stale", Passed: true},
	}
	got := Causes(plans)
	var symptoms []string
	for _, c := range got {
		symptoms = append(symptoms, c.Symptom)
	}
	want := []string{"Deployment web left over in the end", "never reached: Assert(Web a)", "configmaps web-* created too often"}
	if !slices.Equal(symptoms, want) {
		t.Fatalf("got %q", symptoms)
	}
	last := got[2]
	if !slices.Equal(last.Plans, []int{0, 1, 2}) || len(last.Places) != 2 || last.Places[0].Request != "create configmaps" ||
		!slices.Equal(last.Places[0].Types, []string{"crash-after", "lost-response"}) || last.Places[1].Request != "patch webs.example.com web" {
		t.Errorf("got %+v", last)
	}
	if got[1].Places[0].Request != "any request" {
		t.Errorf("got %+v", got[1])
	}
}

func TestSymptomsAreSentences(t *testing.T) {
	for message, want := range map[string]string{
		"created pods a 3 times, not 2 as in the reference; deleted pods b 2 times, not 0 as in the reference":                                      "pods a created too often; pods b deleted too often",
		"the final state differs from the reference:\n- ConfigMap/a-* is missing\n+ ConfigMap/a-* #1 is too many\n":                                 "ConfigMap a-* duplicated in the end",
		"the final state differs from the reference:\n--- want Deployment.apps/a\n+++ got Deployment.apps/a (differs in spec.replicas)\n@@\n-x\n+y": "Deployment a different in the end: spec.replicas",
		"the final state differs from the reference:\n+++ got Deployment.apps/a (differs in spec)\n+++ got Service/b (differs in status)\n":         "Deployment a, Service b different in the end",
		"created pods a too often":                   "created pods a too often",
		"the final state differs from the reference": "the final state differs from the reference",
		"the final state:\n- ConfigMap/a is missing\n+ Web/b is too many\n+++ got Job/c (differs in spec)\n": "ConfigMap a missing; Web b left over; Job c different in the end",
		"the final state:\n+++ got Job/c\n":                                                                                              "Job c different in the end",
		"the final state:\n+++ got Job/c (differs in spec)\n- registry/web\n+ registry/web\n":                                            "Job c different in the end: spec",
		"the final state:\n+ Job/c #2 is too many\n+ Job/c #3 is too many\n":                                                             "Job c left over in the end",
		"the final state:\n+++ got Job/c #1 (differs in spec)\n+ Job/c #2 is too many\n":                                                 "Job c duplicated in the end",
		"the final state:\n+ Job/c #2 is too many\n+++ got Job/c #1 (differs in spec)\n":                                                 "Job c duplicated in the end",
		"the final state:\n+++ got Job/c #1 (differs in spec)\n- Job/c #2 is missing\n":                                                  "Job c missing in the end",
		"the final state:\n- Job/c is missing\n+ Job/c #1 is too many\n+ Job/c #2 is too many\n":                                         "Job c duplicated in the end",
		"the final state:\n- Job/c #2 is missing\n+++ got Job/c #1 (differs in spec)\n":                                                  "Job c missing in the end",
		"the final state:\n- Pod/a is missing\n- ReplicaSet.apps/b is missing\n":                                                         "Pod a, ReplicaSet b missing in the end",
		"the final state:\n- Deployment.apps/c is missing\n- ReplicaSet.apps/b is missing\n":                                             "Deployment c missing in the end",
		"the final state:\n+ ControllerRevision.apps/a-6859c84d69-2 is too many\n+ ControllerRevision.apps/a-778848f78-13 is too many\n": "ControllerRevision a-* left over in the end",
		"the final state:\n- Job/a-6859c84d69-2 is missing\n+ Job/a-6859c84d69-3 is too many\n+ Job/a-5-1 is too many\n":                 "Job a-6859c84d69-2 missing; Job a-*, Job a-5-1 left over in the end",
	} {
		oracle := "counts"
		if strings.HasPrefix(message, "the") {
			oracle = "reference"
		}
		if got := failure("a", "stale", "", oracle, message).symptom(); got != want {
			t.Errorf("%q is %q, not %q", message, got, want)
		}
	}
	if got := failure("a", "stale", "", "bounded-retries", "apply secrets run-abcde/x 63 times within 2s").symptom(); got != "apply secrets <namespace>/x 63 times within …" {
		t.Errorf("got %q", got)
	}
}

// exploration is one of each: a plan that passed, one that failed, one that did not trigger.
func exploration() Exploration {
	run := &Run{
		Start: time.Unix(100, 0), Ended: 50, Triggered: new(7.0),
		Steps: []Step{{Name: "Apply", To: 3, IsAction: true}}, Instances: []Instance{{From: -5, To: 7, End: Crashed}},
		Requests: []Request{{At: 6, Took: 1, Verb: "create", Target: "configmaps"}},
		Versions: []Version{{At: 6.5, Kind: "ConfigMap", Name: "a", Change: Created}},
		Withheld: []Withheld{{Target: "pods", From: 1, To: 2}}, Log: []LogLine{{8, "began"}},
	}
	bad := failure("greeter/create", "crash-after", "create configmaps - 1", "counts", "created twice")
	bad.Findings = append(bad.Findings, Finding{"stable", "changed\x1b[31m again"})
	bad.Run = run
	return Exploration{
		Started: time.Unix(99, 0).UTC(), References: map[string]*Run{"greeter/create": run},
		Plans: []Plan{
			{Scenario: "greeter/create", Category: "latency", Type: "slow-reads", Triggered: true, Passed: true, Seconds: 1}, bad,
			{Scenario: "greeter/delete", Category: "crashes", Type: "crash-before", At: "create configmaps - 1", Passed: true},
		},
	}
}

func TestAnExplorationIsReadAsItWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := exploration().WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Read[Exploration](filepath.Join(dir, ExplorationFile), KindExploration)
	if err != nil {
		t.Fatal(err)
	}
	want := exploration()
	want.Head = Head{Format, KindExploration}
	one, _ := json.Marshal(got)
	other, _ := json.Marshal(want)
	if string(one) != string(other) {
		t.Errorf("got\n%s\nwant\n%s", one, other)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("there are %v: %v", files, err)
	}
}

func TestAnExplorersJUnitHasASuiteForEachCategory(t *testing.T) {
	text, err := exploration().junit()
	if err != nil {
		t.Fatal(err)
	}
	var got reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.TestSuites) != 2 || got.Tests != 3 || got.Failures != 1 || got.Time != 3 {
		t.Fatalf("got %+v", got)
	}
	latency, crashes := got.TestSuites[0], got.TestSuites[1]
	if crashes.Name != "crashes" || crashes.Package != junitPackage || crashes.Tests != 2 || crashes.Skipped != 1 || latency.Name != "latency" {
		t.Errorf("got %+v", got)
	}
	failed := crashes.TestCases[0]
	if failed.Name != "crash-after create configmaps - 1" || failed.Classname != "greeter/create" || failed.Failure.Type != "counts" ||
		!strings.HasPrefix(failed.Failure.Message, "counts: created twice\nstable: changed") || !strings.Contains(failed.Failure.Description, "  counts           created twice\n") {
		t.Errorf("got %+v", failed)
	}
}
