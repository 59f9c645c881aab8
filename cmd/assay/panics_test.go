package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPanicWithoutFaultIsReported checks the text output, the page, the summary and the exit code. All of them must
// report the panic even though every plan passed.
func TestPanicWithoutFaultIsReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/results.json", `{"format":3,"kind":"exploration","about":{"source":"s.yaml"},"shard":{"index":1,"of":1},
		"findingsWithoutFault":[{"scenario":"web/create","oracle":"panics","message":"at web.go:3: boom"}],
		"plans":[{"scenario":"web/create","category":"latency","type":"slow-reads","triggered":true,"passed":true}]}`)
	one, whole := filepath.Join(dir, "one"), filepath.Join(dir, "whole")
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", whole, one)
	if code != exitFindings || !strings.HasPrefix(stdout, "1 finding without any fault: 1 panic\n\n✗ panic    at web.go:3: boom\n") || stderr != "error: 1 finding without any fault: 1 panic\n" {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
	page, err := os.ReadFile(filepath.Join(whole, "report.html"))
	if err != nil || !strings.Contains(string(page), "1 finding without any fault: 1 panic</h1>") || strings.Contains(string(page), "all 1 plans passed") {
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

func TestCheckReportsPanic(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	dir := t.TempDir()
	t.Chdir("../../test/fixtures/naive")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "naive"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, dir, "operator", "#!/bin/sh\necho 'Observed a panic in reconciler: boom' >&2\nexec "+filepath.Join(dir, "naive")+" \"$@\"\n")
	noError(t, os.Chmod(filepath.Join(dir, "operator"), 0o755))
	write(t, dir, "scenarios.yaml", `scenarios:
- name: greeter/create
  steps:
  - apply: {apiVersion: naive.example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {image: "nginx:1", replicas: 1}}
  - converged: {}
`)
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // restored after the test, because the command sets it
	code, stdout, stderr := assay(t, "explore", "--check", "--operator", filepath.Join(dir, "operator"), "--scenarios", filepath.Join(dir, "scenarios.yaml"))
	if code != exitFindings || !strings.HasSuffix(stderr, "error: 1 finding without any fault: 1 panic\n") || !strings.Contains(stdout, "found without any fault: boom") {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
}
