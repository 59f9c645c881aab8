package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

func writeSuites(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "integration/junit.xml", `<testsuites><testsuite name="Integration" package="x">
		<testcase name="[It] webserver/create" classname="Integration" time="1.5"><system-err>STEP: Apply - /src/x_test.go:12 @ 11/27/26 11:00:00.100
			STEP: Becomes(Available) - /src/x_test.go:13 @ 11/27/26 11:00:00.4
		</system-err></testcase>
		<testcase name="[It] other" classname="Integration" time="0"><skipped message="skipped"></skipped></testcase>
		<testcase name="[It] drift|x" classname="Integration" time="0.5">
			<failure message="It is 0.&#10;Timed out." type="failed">text</failure>
			<system-err>artifacts - /src/x_test.go:3&#10;/src/_artifacts/integration/drift-x</system-err></testcase>
		<testcase name="[AfterSuite]" classname="Integration" time="0"><error message="" type="panicked">It panics.</error></testcase></testsuite></testsuites>`)
	write(t, dir, "e2e-kwok/junit.xml", `<testsuite name="e2e-kwok"><testcase name="webserver/delete" classname="e2e-kwok" time="2">
		<failure message="GoesAway still there&#10;artifacts   _artifacts/e2e-kwok/webserver-delete" type="failed"></failure></testcase></testsuite>`)
	return dir
}

func TestSummaryListsSuitesFailuresAndSlowestTests(t *testing.T) {
	const want = `### Kubernetes v1.37.0

| suite | passed | failed | skipped | time of the tests |
|---|---|---|---|---|
| e2e-kwok | 0 | 1 | 0 | 2.0s |
| integration | 1 | 2 | 1 | 2.0s |

- ❌ e2e-kwok: e2e-kwok webserver/delete: GoesAway still there artifacts _artifacts/e2e-kwok/webserver-delete
  artifacts: ` + "`_artifacts/e2e-kwok/webserver-delete`" + `
- ❌ integration: Integration drift|x: It is 0. Timed out.
  artifacts: ` + "`/src/_artifacts/integration/drift-x`" + `
- ❌ integration: Integration [AfterSuite]: It panics.

<details><summary>The slowest tests</summary>

| suite | test | time | longest step |
|---|---|---|---|
| e2e-kwok | e2e-kwok webserver/delete | 2.0s |  |
| integration | Integration webserver/create | 1.5s | Becomes(Available) 1.2s |
| integration | Integration drift\|x | 0.5s |  |
| integration | Integration other | 0.0s |  |
| integration | Integration [AfterSuite] | 0.0s |  |

</details>
`
	code, got, stderr := assay(t, "report", "--markdown", "--title", "Kubernetes v1.37.0", writeSuites(t))
	if code != exitOK || got != want {
		t.Errorf("got exit code %d: %s\ngot\n%s\nwant\n%s", code, stderr, got, want)
	}
}

func TestSummaryWithoutResults(t *testing.T) {
	if code, got, _ := assay(t, "report", "--markdown", t.TempDir()); code != exitOK || got != "There are no results.\n" {
		t.Errorf("got exit code %d: %s", code, got)
	}
}

func TestSummaryOfInvalidFile(t *testing.T) {
	for _, content := range []string{"<testsuites><testsuite", "<html><body>404</body></html>"} {
		dir := t.TempDir()
		write(t, dir, "junit.xml", content)
		if code, _, stderr := assay(t, "report", "--markdown", dir); code != exitBroken || !strings.Contains(stderr, "junit.xml is not a JUnit file: ") {
			t.Errorf("%s: got exit code %d, want %d: %s", content, code, exitBroken, stderr)
		}
	}
}

func TestReportWritesPage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "explore/results.json", `{"format":3,"about":{"source":"s.yaml"},"plans":[{"scenario":"web/create","type":"slow-reads","findings":[{"oracle":"stable","message":"it moves"}]},
		{"scenario":"web/create","type":"crash-after","findings":[{"oracle":"late","step":"Scale","message":"it is late"}],"confirmation":{"played":3,"failed":1}}]}`)
	file := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := assay(t, "report", "--file", file, dir)
	if code != exitOK || stdout != file+"\n" {
		t.Fatalf("got exit code %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(file)
	noError(t, err)
	for _, want := range []string{"2 causes behind 2 failed plans: 1 hot-loop, 1 unstable", "<h3>the state never stabilizes "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
}

func TestInvalidResultsAreRejected(t *testing.T) {
	dir := t.TempDir()
	expectRefused(t, dir+" contains no exploration: run", "report", dir)
	for text, want := range map[string]string{
		`{"format":3,"plans":[{"sce`: "results.json is truncated",
		"":                           "results.json is truncated",
		`{"format":4}`:               "results.json has format 4, but this version of assay reads format 3",
	} {
		write(t, dir, "results.json", text)
		code, stdout, stderr := assay(t, "report", dir)
		if code != exitBroken || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: got exit code %d: %s%s", text, code, stdout, stderr)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
		t.Errorf("got files %v, %v, want only results.json", files, err)
	}
}

func TestMergeShards(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/results.json", `{"format":3,"shard":{"index":1,"of":2},"plans":[
		{"scenario":"web/create","category":"crashes","type":"crash-after","triggered":true,"findings":[{"oracle":"reference","message":"it differs"}]}]}`)
	write(t, dir, "two/results.json", `{"format":3,"shard":{"index":2,"of":2},"plans":[
		{"scenario":"web/create","category":"latency","type":"slow-reads","triggered":true,"passed":true}]}`)
	one, two, whole := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "whole")
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", whole, two, one)
	if code != exitFindings || !strings.Contains(stdout, "1 cause behind 1 failed plan") || !strings.Contains(stdout, "report "+filepath.Join(whole, "report.html")) {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := assay(t, "report", "merge", "--artifacts", whole, "--fail-on", "lied", two, one); code != exitOK {
		t.Errorf("got exit code %d: %s", code, stderr)
	}
	if code, stdout, _ := assay(t, "report", "--markdown", whole); code != exitOK || !strings.Contains(stdout, "web/create crash-after: reference: it differs") {
		t.Errorf("got exit code %d\n%s", code, stdout)
	}
	for want, folders := range map[string][]string{
		"error: shard 2/2 is missing":      {one},
		"error: shard 1/2 is passed twice": {one, one},
		filepath.Join(dir, "three", "results.json") + ": no such file or directory: pass a readable directory with results of assay explore": {one, filepath.Join(dir, "three")},
		"error: " + whole + " contains a complete exploration":                                                                               {one, whole},
	} {
		expectRefused(t, want, append([]string{"report", "merge", "--artifacts", whole}, folders...)...)
	}
}

// TestPanicWithoutFaultIsReported checks the text output, the page, the summary and the exit code. All of them must
// report the panic even though every plan passed.
func TestPanicWithoutFaultIsReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/results.json", `{"format":3,"about":{"source":"s.yaml"},"shard":{"index":1,"of":1},
		"findingsWithoutFault":[{"scenario":"web/create","oracle":"panics","message":"at web.go:3: boom"}],
		"plans":[{"scenario":"web/create","category":"latency","type":"slow-reads","triggered":true,"passed":true}]}`)
	one, whole := filepath.Join(dir, "one"), filepath.Join(dir, "whole")
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", whole, one)
	if code != exitFindings || !strings.HasPrefix(stdout, "1 finding without any fault: 1 panic\n\n✗ panic    at web.go:3: boom\n") || stderr != "error: 1 finding without any fault: 1 panic\n" {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
	html, err := os.ReadFile(filepath.Join(whole, "report.html"))
	if err != nil || !strings.Contains(string(html), "1 finding without any fault: 1 panic</h1>") || strings.Contains(string(html), "no failures") {
		t.Errorf("the page does not report the panic: %v", err)
	}
	if _, stdout, _ := assay(t, "report", "--markdown", whole); !strings.Contains(stdout, "| whole | 1 | 1 | 0 |") ||
		!strings.Contains(stdout, "- ❌ whole: web/create no-fault: panics: at web.go:3: boom\n") {
		t.Errorf("got the summary\n%s", stdout)
	}
	if code, _, stderr := assay(t, "report", "merge", "--artifacts", whole, "--fail-on", "lost,hot-loop,lied,late,churn", one); code != exitOK {
		t.Errorf("got exit code %d: %s", code, stderr)
	}
}

func TestUnwritableReport(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	write(t, dir, "results.json", `{"format":3,"shard":{"index":1,"of":1}}`)
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", "main.go", dir)
	if saved, err := os.ReadDir(temporary); err != nil || len(saved) != 1 ||
		!strings.HasSuffix(stderr, ": run the command again with another --artifacts, or use the report in "+filepath.Join(temporary, saved[0].Name())+"\n") {
		t.Errorf("got directories %v (error %v) and the error %s", saved, err, stderr)
	}
	if code != exitBroken || !strings.HasPrefix(stderr, "error: the report cannot be written: ") || strings.Count(stderr, "\n") != 1 ||
		strings.Contains(stdout, "report ") || !strings.Contains(stdout, "total ") {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestInvalidShardIsRejected(t *testing.T) {
	expectRefused(t, `error: invalid shard "3/2"`, "explore", "--shard", "3/2")
}
