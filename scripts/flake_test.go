package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suites has one that fails in its second run, one that fails by itself, and one that does not compile.
const suites = `
sometimes:
	@echo run >>runs; mkdir -p _artifacts/e2e-kwok
	@outcome=passed; [ $$(wc -l <runs) != 2 ] || outcome=failed; \
	  echo '{"format":1,"kind":"suite","name":"kwok","tests":[{"name":"a","outcome":"'$$outcome'"},{"name":"b","outcome":"passed"}]}' \
	    >_artifacts/e2e-kwok/suite.json; [ $$outcome = passed ]
crashing:
	@mkdir -p _artifacts/e2e-kwok; echo '{"format":1,"kind":"suite","tests":[{"name":"a","outcome":"passed"}]}' >_artifacts/e2e-kwok/suite.json
	@exit 1
broken:
	@echo it does not compile; exit 1
`

func TestFlakeReportsHowOftenEachTestFails(t *testing.T) {
	script, err := filepath.Abs("flake.sh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil { // by which Go knows that its cached result depends on it
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bin/assay"), "../cmd/assay").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(suites), 0o644); err != nil {
		t.Fatal(err)
	}
	earlier := filepath.Join(dir, "_artifacts/explore/results.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(earlier), 0o755), os.WriteFile(earlier, []byte("of another suite"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ suite, times, says string }{
		{"sometimes", "3", "| kwok | a | 3 | 1 | 33% |"},
		{"crashing", "2", "| make crashing | the suite itself | 2 | 2 | 100% |"},
		{"broken", "2", "run 1 of make broken left no results: see _artifacts/flake/broken-1.log"},
		{"sometimes", "0", "N=0 is no number of runs"},
		{"sometimes", "1", ""}, // by now it passes
	} {
		flake := exec.Command("bash", script)
		flake.Dir = dir
		flake.Env = append(os.Environ(), "SUITES="+test.suite, "N="+test.times)
		out, err := flake.CombinedOutput()
		if failed := err != nil; failed != (test.says != "") || !strings.Contains(string(out), test.says) {
			t.Errorf("%s %s times: want %q, got %v:\n%s", test.suite, test.times, test.says, err, out)
		}
	}
	if _, err := os.Stat(earlier); err != nil {
		t.Errorf("the results of another suite are lost: %v", err)
	}
}
