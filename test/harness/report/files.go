package report

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/operator-assay/assay/test/harness/report/results"
)

// WriteFiles leaves the report in a folder, which it creates if needed: as JUnit, and as suite.json for the page that
// `assay report` writes. suite names what the scenarios ran on.
func (r *Report) WriteFiles(dir, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	junit, err := r.junit(suite)
	if err != nil {
		return err
	}
	return errors.Join(
		results.WriteFile(filepath.Join(dir, results.JUnitFile), junit),
		r.suite(suite).Write(filepath.Join(dir, results.SuiteFile)))
}

// suite is the report with its times. The caller holds the lock.
func (r *Report) suite(name string) results.Suite {
	since := func(t time.Time) float64 { return t.Sub(r.start).Seconds() }
	s := results.Suite{Name: name, Started: r.start.UTC(), Seconds: time.Since(r.start).Seconds()}
	for _, p := range r.phases {
		s.Phases = append(s.Phases, results.TestStep{Name: p.name, From: since(p.from), Seconds: p.took.Seconds()})
	}
	for _, run := range r.runs {
		s.Tests = append(s.Tests, run.test(since))
	}
	for _, err := range r.errs {
		s.Errors = append(s.Errors, err.Error())
	}
	return s
}

func (run *Run) test(since func(time.Time) float64) results.Test {
	test := results.Test{Name: run.name, Seconds: run.duration.Seconds(), Outcome: results.Passed}
	for _, d := range run.details {
		switch d.what {
		case "artifacts":
			test.Artifacts = d.text
		case "rerun":
			test.Rerun = d.text
		}
	}
	switch {
	case run.skipped != "":
		test.Outcome, test.Failure = results.Skipped, run.skipped
		return test
	case run.failed():
		test.Outcome, test.Failure = results.Failed, run.failure
	}
	test.From = since(run.start)
	for _, s := range run.steps {
		test.Steps = append(test.Steps, results.TestStep{
			Name: s.Step, From: since(s.ended.Add(-s.Duration)), Seconds: s.Duration.Seconds(), Failed: s.Err != nil,
		})
	}
	return test
}
