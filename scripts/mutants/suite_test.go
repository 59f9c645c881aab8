package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGinkgosReportIsRead(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	const text = `[{"SpecReports": [
		{"LeafNodeType": "BeforeSuite", "State": "passed"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["A child", "that is gone"], "LeafNodeText": "comes back", "State": "passed"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["A child"], "LeafNodeText": "is repaired", "State": "timedout", "Failure": {"Message": "after 10s"}},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["A child"], "LeafNodeText": "is left alone", "State": "skipped"},
		{"LeafNodeType": "AfterSuite", "State": "failed", "Failure": {"Message": "it does not stop"}}
	]}]`
	noError(t, os.WriteFile(report, []byte(text), 0o644))
	came, err := readGinkgo(t.Context(), nil, report)
	noError(t, err)
	if want := []string{"A child that is gone comes back"}; !slices.Equal(came.passed, want) {
		t.Errorf("passed are %q", came.passed)
	}
	if want := []failure{{"A child is repaired", "after 10s"}, {"AfterSuite", "it does not stop"}}; !slices.Equal(came.failed, want) {
		t.Errorf("failed are %q", came.failed)
	}

	_, err = readGinkgo(t.Context(), []byte("first\npanic: boom\n"), report+".none")
	if err == nil || !strings.Contains(err.Error(), "panic: boom") {
		t.Errorf("got %v", err)
	}
}
