package results

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// write leaves a file in a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	ginkgo = `[{"SuiteDescription": "Integration", "SpecReports": [
	  {"LeafNodeType": "BeforeSuite", "State": "passed", "RunTime": 5000000000},
	  {"LeafNodeType": "It", "ContainerHierarchyTexts": ["Scenario"], "LeafNodeText": "webserver/create", "State": "passed", "RunTime": 500000000,
	   "ReportEntries": [{"Name": "writes", "Visibility": "failure-or-verbose", "Value": {"AsJSON": "\"\"", "Representation": "webserver/create ApplySample: 4, of 3 to 5 allowed"}}]},
	  {"LeafNodeType": "It", "ContainerHierarchyTexts": ["Scenario"], "LeafNodeText": "leaves silence behind", "State": "passed", "RunTime": 1000000000},
	  {"LeafNodeType": "It", "ContainerHierarchyTexts": ["A node port"], "LeafNodeText": "is kept", "State": "timedout", "RunTime": 2000000000},
	  {"LeafNodeType": "It", "ContainerHierarchyTexts": ["A node port"], "LeafNodeText": "is not in focus", "State": "skipped"},
	  {"LeafNodeType": "It", "ContainerHierarchyTexts": ["A node port"], "LeafNodeText": "is not for here", "State": "skipped", "Failure": {"Message": "no IPv6"}},
	  {"LeafNodeType": "AfterSuite", "State": "failed", "RunTime": 1000000000}]}]`
	junit = `<testsuites><testsuite name="e2e-kwok">
	  <testcase name="webserver/create" status="passed" time="1.5"></testcase>
	  <testcase name="webserver/bad-image" status="skipped" time="0"><skipped message="no containers"></skipped></testcase>
	  <testcase name="webserver/delete" status="failed" time="2"><failure message="still there" type="failed"></failure></testcase>
	  <testcase name="outside of any scenario (1)" status="error" time="0"><error message="no cluster" type="error"></error></testcase>
	</testsuite></testsuites>`
)

func TestReportsAreReadAlike(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "integration/report.json", ginkgo)
	write(t, dir, "e2e-kwok/junit.xml", junit)
	got, err := Read(dir, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Tier: "e2e-kwok", Scenario: "webserver/create", Story: true, Outcome: Passed, Took: 1500 * time.Millisecond},
		{Tier: "e2e-kwok", Scenario: "webserver/bad-image", Story: true, Outcome: Skipped},
		{Tier: "e2e-kwok", Scenario: "webserver/delete", Story: true, Outcome: Failed, Took: 2 * time.Second},
		{Tier: "e2e-kwok", Scenario: "outside of any scenario (1)", Outcome: Failed},
		{Tier: "integration", Scenario: "webserver/create", Story: true, Outcome: Passed, Took: 500 * time.Millisecond, Writes: "4, of 3 to 5 allowed"},
		{Tier: "integration", Scenario: "Scenario leaves silence behind", Outcome: Passed, Took: time.Second},
		{Tier: "integration", Scenario: "A node port is kept", Outcome: Failed, Took: 2 * time.Second},
		{Tier: "integration", Scenario: "A node port is not for here", Outcome: Skipped},
		{Tier: "integration", Scenario: "AfterSuite", Outcome: Failed, Took: time.Second},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestReportsOfEarlierRunsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "e2e-kwok/junit.xml", junit)
	got, err := Read(dir, time.Now().Add(time.Minute))
	if err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestASuiteThatDidNotCompileHasFailed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "integration/report.json", `[{"SpecialSuiteFailureReasons": ["Failed to compile integration:\n\nundefined: x"]}]`)
	got, err := Read(dir, time.Time{})
	if err != nil || len(got) != 1 || got[0].Outcome != Failed || got[0].Scenario != "the suite: Failed to compile integration:" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatIsNoReportIsNamed(t *testing.T) {
	for _, name := range []string{"integration/report.json", "e2e-kind/junit.xml", "faults/results.json"} {
		dir := t.TempDir()
		write(t, dir, name, "half a repo")
		_, err := Read(dir, time.Time{})
		if strings.HasPrefix(name, "faults") {
			_, err = ReadPlans(dir)
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error that names %s, got %v", name, err)
		}
	}
}

func TestPlansAreRead(t *testing.T) {
	dir := t.TempDir()
	if plans, err := ReadPlans(dir); plans != nil || err != nil {
		t.Errorf("nothing has run, but there is %v, %v", plans, err)
	}
	write(t, dir, "faults/results.json", `
{"scenario": "webserver/create", "category": "crash", "fault": "crash after write 1", "passed": true, "seconds": 1.5}
{"scenario": "webserver/create", "category": "stale", "passed": true, "seconds": 1}
{"scenario": "webserver/create", "category": "crash", "passed": false, "findings": [{"oracle": "silence"}], "seconds": 2}
`)
	plans, err := ReadPlans(dir)
	want := []Plans{
		{Scenario: "webserver/create", Family: "crash", Tried: 2, Failed: 1, Took: 3500 * time.Millisecond},
		{Scenario: "webserver/create", Family: "stale", Tried: 1, Took: time.Second},
	}
	if err != nil || !reflect.DeepEqual(plans, want) {
		t.Errorf("got %v, %v", plans, err)
	}
}
