package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
)

// write leaves a file in a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

const (
	e2e = `<testsuites><testsuite name="e2e-kwok">
	  <testcase name="webserver/create" status="passed" time="1.5"></testcase>
	  <testcase name="webserver/bad-image" status="skipped" time="0"><skipped message="no containers"></skipped></testcase>
	  <testcase name="webserver/delete" status="failed" time="2"><failure message="still there" type="failed"></failure></testcase>
	  <testcase name="outside of any scenario (1)" status="error" time="0"><error message="no cluster" type="error"></error></testcase>
	</testsuite></testsuites>`
	explored = `<testsuites><testsuite name="crashes" package="explore">
	  <testcase classname="webserver/create" name="crash-after apply services s 1" time="1.5"></testcase>
	  <testcase classname="webserver/create" name="crash-before apply services s 1" time="2"><failure message="counts" type="counts"></failure></testcase>
	</testsuite><testsuite name="views" package="explore">
	  <testcase classname="webserver/create" name="stale watch services - 1" time="1"><skipped message="the fault never triggered"></skipped></testcase>
	</testsuite></testsuites>`
)

// ginkgo leaves a report in the form of this version of Ginkgo.
func ginkgo(t *testing.T, dir string) {
	t.Helper()
	entry := types.ReportEntry{Name: "writes", Value: types.WrapEntryValue("webserver/create ApplySample: 4, of 3 to 5 allowed")}
	it := func(container, leaf string, state types.SpecState) types.SpecReport {
		return types.SpecReport{LeafNodeType: types.NodeTypeIt, ContainerHierarchyTexts: []string{container}, LeafNodeText: leaf, State: state, RunTime: 5e8}
	}
	create := it("Scenario", "webserver/create", types.SpecStatePassed)
	create.ReportEntries = types.ReportEntries{entry}
	notHere := it("A node port", "is not for here", types.SpecStateSkipped)
	notHere.Failure.Message = "no IPv6"
	report := types.Report{SuiteDescription: "Integration", SpecReports: types.SpecReports{
		{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStatePassed, RunTime: 5e9},
		create,
		it("Scenario", "sends no request once it has converged", types.SpecStatePassed),
		it("A node port", "is kept", types.SpecStateTimedout),
		it("A node port", "is not in focus", types.SpecStateSkipped),
		notHere,
		{LeafNodeType: types.NodeTypeAfterSuite, State: types.SpecStateFailed, RunTime: 1e9},
	}}
	folder := filepath.Join(dir, "integration")
	if err := errors.Join(os.MkdirAll(folder, 0o755), reporters.GenerateJUnitReport(report, filepath.Join(folder, "junit.xml"))); err != nil {
		t.Fatal(err)
	}
}

func TestEverySuitesFileIsRead(t *testing.T) {
	dir := t.TempDir()
	ginkgo(t, dir)
	write(t, dir, "e2e-kwok/junit.xml", e2e)
	write(t, dir, "faults/junit.xml", explored)
	got, err := readJUnit(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []testResult{
		{Suite: "e2e-kwok", Test: "webserver/create", Outcome: passed, Seconds: 1.5},
		{Suite: "e2e-kwok", Test: "webserver/bad-image", Outcome: skipped},
		{Suite: "e2e-kwok", Test: "webserver/delete", Outcome: failed, Seconds: 2},
		{Suite: "e2e-kwok", Test: "outside of any scenario (1)", Outcome: failed},
		{Suite: "faults", Test: "webserver/create", Plan: "crash-after apply services s 1", Category: "crashes", Outcome: passed, Seconds: 1.5},
		{Suite: "faults", Test: "webserver/create", Plan: "crash-before apply services s 1", Category: "crashes", Outcome: failed, Seconds: 2},
		{Suite: "faults", Test: "webserver/create", Plan: "stale watch services - 1", Category: "views", Outcome: skipped, Seconds: 1},
		{Suite: "integration", Test: "webserver/create", Outcome: passed, Seconds: 0.5, Writes: "4, of 3 to 5 allowed"},
		{Suite: "integration", Test: "Scenario sends no request once it has converged", Outcome: passed, Seconds: 0.5},
		{Suite: "integration", Test: "A node port is kept", Outcome: failed, Seconds: 0.5},
		{Suite: "integration", Test: "A node port is not for here", Outcome: skipped, Seconds: 0.5},
		{Suite: "integration", Test: "[AfterSuite]", Outcome: failed, Seconds: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestASuiteThatDidNotCompileHasFailed(t *testing.T) {
	dir := t.TempDir()
	report := types.Report{SuiteDescription: "Integration", SpecialSuiteFailureReasons: []string{"Failed to compile integration:\n\nundefined: x"}}
	if err := reporters.GenerateJUnitReport(report, filepath.Join(dir, "junit.xml")); err != nil {
		t.Fatal(err)
	}
	got, err := readJUnit(dir)
	if err != nil || len(got) != 1 || got[0].Outcome != failed || got[0].Test != "the suite: Failed to compile integration:" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAFileThatIsNoJUnitIsNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "e2e-kind/junit.xml", "half a repo")
	if code, _, stderr := assay(t, "report", "--markdown", dir); code != exitBroken || !strings.Contains(stderr, "e2e-kind/junit.xml is no JUnit file") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestTheSummaryHasEachScenarioInEachSuite(t *testing.T) {
	dir := t.TempDir()
	ginkgo(t, dir)
	write(t, dir, "e2e-kwok/junit.xml", e2e)
	write(t, dir, "faults/junit.xml", explored)
	const want = `### Kubernetes v1.37.0

| suite | passed | failed | skipped | time |
|---|---|---|---|---|
| e2e-kwok | 1 | 2 | 1 | 3.5s |
| faults | 1 | 1 | 1 | 4.5s |
| integration | 2 | 2 | 1 | 3.0s |

| scenario | e2e-kwok | integration | writes |
|---|---|---|---|
| webserver/bad-image | skipped |  |  |
| webserver/create | ✅ 1.5s | ✅ 0.5s | 4, of 3 to 5 allowed |
| webserver/delete | ❌ 2.0s |  |  |

| plans | crash-after | crash-before | stale |
|---|---|---|---|
| webserver/create | 1 | ❌ 1/1 | 1 |

- ❌ e2e-kwok: webserver/delete
- ❌ e2e-kwok: outside of any scenario (1)
- ❌ faults: webserver/create crash-before apply services s 1
- ❌ integration: A node port is kept
- ❌ integration: [AfterSuite]
`
	code, got, _ := assay(t, "report", "--markdown", "--title", "Kubernetes v1.37.0", dir)
	if code != exitOK || got != want {
		t.Errorf("exit code %d, got\n%s\nwant\n%s", code, got, want)
	}
	_, lines, _ := assay(t, "report", "--output", "json", dir)
	if first := `{"suite":"e2e-kwok","test":"webserver/create","outcome":"passed","seconds":1.5}`; !strings.HasPrefix(lines, first+"\n") || strings.Count(lines, "\n") != 12 {
		t.Errorf("got\n%s", lines)
	}
}

func TestAFolderWithoutResultsSaysSo(t *testing.T) {
	if code, got, _ := assay(t, "report", "--markdown", t.TempDir()); code != exitOK || got != "No folder has a junit.xml.\n" {
		t.Errorf("exit code %d: %s", code, got)
	}
}

func TestRatesAreOverAllRuns(t *testing.T) {
	dir := t.TempDir()
	const run = `<testsuites><testsuite><testcase name="a|x" time="1">%s</testcase><testcase name="b" time="2"></testcase>` +
		`<testcase name="c"><skipped message="no"></skipped></testcase></testsuite></testsuites>`
	for i, failure := range []string{"", `<failure message="no"></failure>`, "", ""} {
		write(t, dir, string(rune('1'+i))+"/e2e-kwok/junit.xml", strings.Replace(run, "%s", failure, 1))
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `### 4 runs: 1 of 2 tests failed at least once

| suite | test | runs | failed | rate | time |
|---|---|---|---|---|---|
| e2e-kwok | a\|x | 4 | 1 | 25% | 1.0s to 1.0s |
| e2e-kwok | b | 4 | 0 | 0% | 2.0s to 2.0s |

`
	if code, got, _ := assay(t, append([]string{"report", "--rates"}, folders...)...); code != exitOK || got != want {
		t.Errorf("exit code %d, got\n%s\nwant\n%s", code, got, want)
	}
}

func TestAPageIsWrittenOfWhatSuitesHaveLeft(t *testing.T) {
	dir, before := t.TempDir(), t.TempDir()
	write(t, dir, "e2e-kwok/suite.json", `{"format":1,"kind":"suite","name":"e2e, kwok","tests":[
		{"name":"web/heal","outcome":"failed","failure":"not\nfound","artifacts":"_artifacts/e2e-kwok/web-heal","source":"test/x.go:7","rerun":"make e2e"}]}`)
	write(t, before, "e2e-kwok/suite.json", `{"format":1,"kind":"suite","tests":[{"name":"web/heal","outcome":"passed"}]}`)
	write(t, dir, "explore/results.json", `{"format":1,"kind":"exploration","about":{"source":"s.yaml"},"plans":[{"scenario":"web/create","type":"slow-reads","findings":[{"oracle":"stable","message":"it moves"}]},
		{"scenario":"web/create","type":"crash-after","findings":[{"oracle":"late","message":"it is late"}],"confirmation":{"played":3,"failed":1}}]}`)
	file := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := assay(t, "report", "--file", file, "--baseline", before, dir)
	if code != exitOK || stdout != file+"\n" {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of 1 tests failed", "2 causes behind 2 failed plans: 1 hot-loop, 1 unstable", `href="e2e-kwok/web-heal"`, "new failures", "it moves", "<h3>it moves "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	const want = "::error file=test/x.go,line=7,title=e2e%2C kwok%3A web/heal::not%0Afound%0Amake e2e\n" +
		"::error file=s.yaml,title=it moves%2C in 1 of 2 plans::for example web/create slow-reads\n" +
		"::warning file=s.yaml,title=it is late%2C in 1 of 2 plans::for example web/create crash-after\n"
	if _, got, _ := assay(t, "report", "--annotations", dir); got != want {
		t.Errorf("got the annotations\n%s", got)
	}
	alone := filepath.Join(dir, "explore")
	if code, stdout, stderr := assay(t, "report", alone); code != exitOK || stdout != filepath.Join(alone, "report.html")+"\n" {
		t.Errorf("of one suite's folder: exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestOfBadResultsNoPageIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		text, says string
		code       int
	}{
		"truncated":       {`{"format":1,"kind":"exploration","plans":[{"sce`, "results.json is truncated, or no results file: ", exitBroken},
		"newer":           {`{"format":2,"kind":"exploration"}`, "results.json has format 2, and this version reads up to 1: use a newer assay", exitBroken},
		"empty":           {"", "results.json is empty: run the suite again", exitBroken},
		"something else":  {"{}", "results.json is no results file: it does not begin with a format and a kind", exitBroken},
		"of another kind": {`{"format":1,"kind":"suite"}`, "results.json is no results file of this kind", exitBroken},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "results.json", test.text)
			code, stdout, stderr := assay(t, "report", dir)
			if code != test.code || stdout != "" || !strings.Contains(stderr, test.says) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
			if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
				t.Errorf("there are %v: %v", files, err)
			}
		})
	}
	dir := t.TempDir()
	if code, _, stderr := assay(t, "report", dir); code != exitUsage || !strings.Contains(stderr, dir+" holds no results: run a suite first") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestShardsAreMergedIntoOneResult(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/results.json", `{"format":1,"kind":"exploration","shard":{"index":1,"of":2},"plans":[
		{"scenario":"web/create","category":"crashes","type":"crash-after","triggered":true,"findings":[{"oracle":"reference","message":"it differs"}]}]}`)
	write(t, dir, "two/results.json", `{"format":1,"kind":"exploration","shard":{"index":2,"of":2},"plans":[
		{"scenario":"web/create","category":"latency","type":"slow-reads","triggered":true,"passed":true}]}`)
	one, two, whole := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "whole")
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", whole, two, one)
	if code != exitFindings || !strings.Contains(stdout, "1 cause behind 1 failed plan") || !strings.Contains(stdout, "report "+filepath.Join(whole, "report.html")) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := assay(t, "report", "merge", "--artifacts", whole, "--fail-on", "lied", two, one); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, stdout, _ := assay(t, "report", "--markdown", whole); code != exitOK || !strings.Contains(stdout, "slow-reads") && !strings.Contains(stdout, "latency") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	for want, folders := range map[string][]string{
		"error: shard 2/2 is missing":                {one},
		"error: shard 1/2 is there twice":            {one, one},
		"error: open " + filepath.Join(dir, "three"): {one, filepath.Join(dir, "three")},
	} {
		if code, _, stderr := assay(t, append([]string{"report", "merge", "--artifacts", whole}, folders...)...); code != exitUsage || !strings.HasPrefix(stderr, want) {
			t.Errorf("%v: exit code %d: %s", folders, code, stderr)
		}
	}
}

func TestAShardOfWhatIsNamedIsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"error: --shard is a part of all plans":       {"--shard", "1/2", "--plan", "web/create slow-reads"},
		`error: --shard: "3/2" is no shard: want one`: {"--shard", "3/2"},
	} {
		if code, _, stderr := assay(t, append([]string{"explore"}, args...)...); code != exitUsage || !strings.HasPrefix(stderr, want) {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}
