package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write leaves a file in a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

func TestTheSummaryHasEachScenarioInEachSuite(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "integration/suite.json", `{"format":1,"kind":"suite","name":"integration","errors":["AfterSuite: it hangs\nfor long"],"tests":[
		{"name":"webserver/create","outcome":"passed","seconds":0.5},
		{"name":"A node port is kept","outcome":"failed","seconds":0.5,"failure":"Timed out.\nIt is 0."}]}`)
	write(t, dir, "e2e-kwok/suite.json", `{"format":1,"kind":"suite","name":"kwok","tests":[
		{"name":"webserver/create","outcome":"passed","seconds":1.5},
		{"name":"webserver/bad-image","outcome":"skipped"},
		{"name":"webserver/delete","outcome":"failed","seconds":2}]}`)
	write(t, dir, "explore/results.json", `{"format":1,"kind":"exploration","plans":[
		{"scenario":"webserver/create","category":"crashes","type":"crash-after","at":"apply services s 1","triggered":true,"passed":true,"seconds":1.5},
		{"scenario":"webserver/create","category":"crashes","type":"crash-before","at":"apply services s 1","triggered":true,"seconds":2,
		 "findings":[{"oracle":"stable","message":"it moves"}],"confirmation":{"played":3,"failed":3}},
		{"scenario":"webserver/create","category":"crashes","type":"crash-before","at":"apply services s 2","triggered":true,"seconds":2,
		 "findings":[{"oracle":"late","message":"it is late"}],"confirmation":{"played":3,"failed":1}},
		{"scenario":"webserver/create","category":"views","type":"stale","at":"services","seconds":1,"passed":true}]}`)
	const want = `### Kubernetes v1.37.0

| suite | passed | failed | skipped | time |
|---|---|---|---|---|
| explore | 1 | 2 | 1 | 6.5s |
| integration | 1 | 2 | 0 | 1.0s |
| kwok | 1 | 1 | 1 | 3.5s |

| scenario | integration | kwok |
|---|---|---|
| webserver/bad-image |  | skipped |
| webserver/create | ✅ 0.5s | ✅ 1.5s |
| webserver/delete |  | ❌ 2.0s |

` + "```" + `
SCENARIO          FAULTS   PLANS  FAILED  UNTRIGGERED  SECONDS
webserver/create  crashes  3      2       0            5.5
webserver/create  views    1      0       1            1.0
in all                     4      2       1            6.5
` + "```" + `

- ❌ kwok: webserver/delete
- ❌ integration: A node port is kept: Timed out.
- ❌ integration, outside of any test: AfterSuite: it hangs
- ❌ it moves, in 1 of 4 plans: for example webserver/create crash-before apply services s 1
- ⚠️ it is late, in 1 of 4 plans: for example webserver/create crash-before apply services s 2
`
	code, got, stderr := assay(t, "report", "--markdown", "--title", "Kubernetes v1.37.0", dir)
	if code != exitOK || got != want {
		t.Errorf("exit code %d: %s, got\n%s\nwant\n%s", code, stderr, got, want)
	}
}

func TestAFolderWithoutResultsSaysSo(t *testing.T) {
	if code, got, _ := assay(t, "report", "--markdown", t.TempDir()); code != exitOK || got != "No folder has results.\n" {
		t.Errorf("exit code %d: %s", code, got)
	}
}

func TestRatesAreOverAllRuns(t *testing.T) {
	dir := t.TempDir()
	for i, outcome := range []string{"passed", "failed", "passed", "passed"} {
		write(t, dir, string(rune('1'+i))+"/e2e-kwok/suite.json", `{"format":1,"kind":"suite","name":"kwok","tests":[
			{"name":"a|x","outcome":"`+outcome+`","seconds":1},{"name":"b","outcome":"passed","seconds":2},{"name":"c","outcome":"skipped"}]}`)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	noError(t, err)
	const want = `### 4 runs: 1 of 2 tests failed at least once

| suite | test | runs | failed | rate | time |
|---|---|---|---|---|---|
| kwok | a\|x | 4 | 1 | 25% | 1.0s to 1.0s |
| kwok | b | 4 | 0 | 0% | 2.0s to 2.0s |

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
	noError(t, err)
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
	expectRefused(t, dir+" holds no results: run a suite first", "report", dir)
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
		"error: shard 2/2 is missing":                    {one},
		"error: shard 1/2 is there twice":                {one, one},
		"error: open " + filepath.Join(dir, "three"):     {one, filepath.Join(dir, "three")},
		"error: " + whole + " holds a whole exploration": {one, whole},
	} {
		expectRefused(t, want, append([]string{"report", "merge", "--artifacts", whole}, folders...)...)
	}
}

func TestAShardOfWhatIsNamedIsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"error: --shard is a part of all plans":       {"--shard", "1/2", "--plan", "web/create slow-reads"},
		`error: --shard: "3/2" is no shard: want one`: {"--shard", "3/2"},
	} {
		expectRefused(t, want, append([]string{"explore"}, args...)...)
	}
}
