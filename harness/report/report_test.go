package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/harness/scenario"
)

func TestStepsArePrinted(t *testing.T) {
	var out bytes.Buffer
	r := report.New(&out)
	r.Phase("cluster", 4100*time.Millisecond, "%s ready", "v1.37.0")
	run := r.Start("webserver/create")
	run.Step(scenario.StepResult{Step: "PodsAreReady(3)", Detail: "3 of 3 ready", Duration: 1200 * time.Millisecond})
	run.Passed()
	for _, want := range []string{"cluster    v1.37.0 ready", "4.1s", "webserver/create", "✓ PodsAreReady(3)", "3 of 3 ready", "1.2s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got output without %q:\n%s", want, &out)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "\n1 passed, 0 failed, 0 skipped\n") {
		t.Errorf("got output without the totals:\n%s", &out)
	}
}

func TestFailureShowsStateAndRerun(t *testing.T) {
	var out bytes.Buffer
	r := report.New(&out)
	run := r.Start("webserver/heal")
	run.Step(scenario.StepResult{Step: "ServiceIsRestored", Err: errors.New("not found\nlast seen   nothing")})
	run.Failed("", "make e2e")
	if err := r.Close(); err == nil {
		t.Error("Close: got no error, want an error for the failed scenario")
	}
	for _, want := range []string{"✗ ServiceIsRestored", "      not found\n", "      last seen   nothing\n", "      rerun       make e2e\n", "FAILED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got output without %q:\n%s", want, &out)
		}
	}
}

func TestCloseFails(t *testing.T) {
	for name, play := range map[string]func(*report.Report){
		"no scenario":                func(*report.Report) {},
		"only skipped scenarios":     func(r *report.Report) { r.Skip("webserver/load", "no containers") },
		"unfinished scenario":        func(r *report.Report) { r.Start("webserver/create") },
		"error outside of scenarios": func(r *report.Report) { r.Start("x").Passed(); r.Fail(errors.New("no disk")) },
		"1 of 2 scenarios failed":    func(r *report.Report) { r.Start("x").Passed(); r.Start("y").Failed("", "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := report.New(&bytes.Buffer{})
			play(r)
			if r.Close() == nil {
				t.Error("Close: got no error")
			}
		})
	}
}

func TestWriteJUnit(t *testing.T) {
	r := report.New(&bytes.Buffer{})
	r.Start("good").Passed()
	bad := r.Start("bad")
	bad.Step(scenario.StepResult{Step: "Heals", Err: errors.New("never\x1b[31m did")})
	bad.Failed("", "make e2e")
	r.Skip("ugly", "no containers")
	r.Fail(errors.New("no disk"))
	dir := filepath.Join(t.TempDir(), "new")
	if err := r.WriteJUnit(dir, "e2e on kwok"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var suites reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 4 || suites.Failures != 2 || suites.TestSuites[0].Skipped != 1 {
		t.Errorf("got wrong counts, want 4 tests, 2 failures, 1 skipped: %s", text)
	}
	if test := suites.TestSuites[0].TestCases[1]; test.Name != "bad" || test.Failure == nil || !strings.HasPrefix(test.Failure.Message, "Heals never") || !strings.HasSuffix(test.Failure.Message, "\nrerun       make e2e") {
		t.Errorf("got test case %+v, want bad with a failure that starts with Heals and ends with the rerun command", test)
	}
	if log := suites.TestSuites[0].TestCases[1].SystemErr; !strings.HasPrefix(log, "STEP: Heals @ ") {
		t.Errorf("got log %q, want the step Heals", log)
	}
}
