package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPanicWithoutAFaultIsToldEverywhere reads the text, the page, the JUnit file, the annotations and the exit code: plans that
// all passed say nothing against it.
func TestAPanicWithoutAFaultIsToldEverywhere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one/results.json", `{"format":1,"kind":"exploration","about":{"source":"s.yaml"},"shard":{"index":1,"of":1},
		"panicsWithoutFault":[{"scenario":"web/create","message":"at web.go:3: boom"}],
		"plans":[{"scenario":"web/create","category":"latency","type":"slow-reads","triggered":true,"passed":true}]}`)
	one, whole := filepath.Join(dir, "one"), filepath.Join(dir, "whole")
	code, stdout, stderr := assay(t, "report", "merge", "--artifacts", whole, one)
	if code != exitFindings || !strings.HasPrefix(stdout, "1 panic without any fault\n\n✗ panic    at web.go:3: boom\n") || stderr != "error: 1 panic without any fault\n" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	page, err := os.ReadFile(filepath.Join(whole, "report.html"))
	if err != nil || !strings.Contains(string(page), "1 panic without any fault</h1>") || strings.Contains(string(page), "all 1 plans passed") {
		t.Errorf("the page does not tell: %v", err)
	}
	if _, stdout, _ := assay(t, "report", "--markdown", whole); !strings.Contains(stdout, "❌ whole: web/create no-fault") || !strings.Contains(stdout, "| 1 | 1 | 0 |") {
		t.Errorf("got the summary\n%s", stdout)
	}
	if _, stdout, _ := assay(t, "report", "--annotations", whole); stdout != "::error file=s.yaml,title=panic at web.go%3A3%3A boom::without any fault, in web/create\n" {
		t.Errorf("got the annotations\n%s", stdout)
	}
	if code, _, stderr := assay(t, "report", "merge", "--artifacts", whole, "--fail-on", "lost,hot-loop,lied,late,churn", one); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
