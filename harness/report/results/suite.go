package results

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// SuiteFile is a suite's results in its folder.
const SuiteFile = "suite.json"

// Suite is one run of a suite. Times are seconds since Started.
type Suite struct {
	Head
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Phases are work outside of tests: creating a cluster, building images.
	Phases []TestStep `json:"phases,omitempty"`
	Tests  []Test     `json:"tests,omitempty"`
	// Errors happened outside of any test.
	Errors []string `json:"errors,omitempty"`
}

// Test is one scenario or spec.
type Test struct {
	Name    string     `json:"name"`
	From    float64    `json:"from"`
	Seconds float64    `json:"seconds"`
	Outcome string     `json:"outcome"`
	Steps   []TestStep `json:"steps,omitempty"`
	// Failure says what failed and what was seen last, or why the test was skipped.
	Failure string `json:"failure,omitempty"`
	// Artifacts are the folder of a failure, Rerun is the command that runs it again.
	Artifacts string `json:"artifacts,omitempty"`
	Rerun     string `json:"rerun,omitempty"`
	// Source is the file and the line where it failed: "test/integration/drift_test.go:12".
	Source string `json:"source,omitempty"`
}

// What becomes of a test.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
)

// TestStep is a part of a test, or of a suite.
type TestStep struct {
	Name    string  `json:"name"`
	From    float64 `json:"from"`
	Seconds float64 `json:"seconds"`
	Failed  bool    `json:"failed,omitempty"`
}

// HasFailed tells whether a test or something outside of any has failed.
func (s Suite) HasFailed() bool {
	return len(s.Errors) > 0 || slices.ContainsFunc(s.Tests, func(t Test) bool { return t.Outcome == Failed })
}

// Write writes the suite to a file.
func (s Suite) Write(path string) error {
	s.Head = Head{Format, KindSuite}
	return write(path, s)
}

// relative is a path without the repository's folder, which is the same on no two machines. root is a folder in the
// repository, such as test/integration.
func relative(path, root string) string {
	folder, file, found := strings.Cut(path, string(filepath.Separator)+"test"+string(filepath.Separator))
	if !found || !strings.HasPrefix(root, folder) {
		return path
	}
	return "test/" + filepath.ToSlash(file)
}
