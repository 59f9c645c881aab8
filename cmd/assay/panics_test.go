package main

import (
	"os"
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
