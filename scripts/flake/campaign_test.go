package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makefile has a suite that fails in every other run, one that fails by itself, and one that cannot be built.
const makefile = `
e2e:
	@echo run >>runs
	@mkdir -p _artifacts/e2e-kwok
	@if [ $$(($$(wc -l <runs) % 2)) = 0 ]; then bad='<failure message="no"></failure>'; fi; \
	  printf '<testsuites><testsuite><testcase name="a" time="1">%s</testcase><testcase name="b" time="2"></testcase>' "$$bad" >_artifacts/e2e-kwok/junit.xml; \
	  echo '<testcase name="c"><skipped message="no"></skipped></testcase></testsuite></testsuites>' >>_artifacts/e2e-kwok/junit.xml; \
	  [ -z "$$bad" ]
crashing:
	@mkdir -p _artifacts/e2e-kwok
	@echo '<testsuites><testsuite><testcase name="a"></testcase></testsuite></testsuites>' >_artifacts/e2e-kwok/junit.xml
	@exit 1
broken:
	@echo it does not compile; exit 1
`

func repeated(t *testing.T, times int, suites ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("Makefile", []byte(makefile), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &campaign{dir: "_artifacts", out: &out}
	err := c.run(t.Context(), times, suites)
	return out.String(), err
}

func TestTheRateOfEachTestIsReported(t *testing.T) {
	out, err := repeated(t, 4, "e2e")
	if err == nil || !strings.HasPrefix(err.Error(), "1 of 2 tests failed at least once") {
		t.Errorf("got %v", err)
	}
	report, _ := os.ReadFile(filepath.Join("_artifacts", "flake", "rates.md"))
	for _, want := range []string{
		"### 4 runs: 1 of 2 tests failed at least once",
		"| e2e-kwok | a | 4 | 2 | 50% | 1.0s to 1.0s |\n| e2e-kwok | b | 4 | 0 | 0% | 2.0s to 2.0s |\n",
	} {
		if !strings.Contains(out, want) || !strings.Contains(string(report), want) {
			t.Errorf("want %q in\n%s\nand in the report\n%s", want, out, report)
		}
	}
	if !strings.Contains(out, "2 of 4   1 passed, 1 failed, 1 skipped") {
		t.Errorf("the second run is not told:\n%s", out)
	}
}

func TestASteadySuiteIsGreen(t *testing.T) {
	if out, err := repeated(t, 1, "e2e"); err != nil {
		t.Errorf("got %v:\n%s", err, out)
	}
}

func TestASuiteThatFailsByItselfIsCounted(t *testing.T) {
	out, err := repeated(t, 2, "crashing")
	if err == nil || !strings.Contains(out, "| crashing | the suite itself | 2 | 2 | 100% |") {
		t.Errorf("got %v:\n%s", err, out)
	}
}

func TestASuiteWithoutResultsEndsItAll(t *testing.T) {
	_, err := repeated(t, 2, "broken")
	if err == nil || !strings.Contains(err.Error(), "run 1 of make broken left no results") || !strings.Contains(err.Error(), "broken-1.log") {
		t.Errorf("got %v", err)
	}
}
