package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/scripts/results"
)

func TestTheSummaryHasEachScenarioOnEachTier(t *testing.T) {
	got := markdown("v1.37.0", []results.Result{
		{Tier: "integration", Scenario: "webserver/create", Story: true, Outcome: results.Passed, Took: 500 * time.Millisecond, Writes: "4, of 3 to 5 allowed"},
		{Tier: "integration", Scenario: "a | b", Outcome: results.Failed, Took: time.Second},
		{Tier: "e2e-kwok", Scenario: "webserver/create", Story: true, Outcome: results.Failed, Took: 2 * time.Second},
		{Tier: "e2e-kwok", Scenario: "webserver/bad-image", Story: true, Outcome: results.Skipped},
	}, []results.Plans{
		{Scenario: "webserver/create", Family: "crash", Tried: 15, Failed: 2, Took: 3 * time.Second},
		{Scenario: "webserver/create", Family: "stale", Tried: 6, Took: 1500 * time.Millisecond},
	}, []string{"| a report |\n"})
	want := `### Kubernetes v1.37.0

| tier | passed | failed | skipped | time |
|---|---|---|---|---|
| e2e-kwok | 0 | 1 | 1 | 2.0s |
| integration | 1 | 1 | 0 | 1.5s |
| faults, plans | 19 | 2 | 0 | 4.5s |

| scenario | e2e-kwok | integration | writes | fault plans |
|---|---|---|---|---|
| webserver/bad-image | skipped |  |  |  |
| webserver/create | ❌ 2.0s | ✅ 0.5s | 4, of 3 to 5 allowed | crash 15, ❌ 2 failed; stale 6 |

- ❌ integration: a | b
- ❌ e2e-kwok: webserver/create

| a report |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheSummaryIsAddedToTheRunsPage(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	t.Setenv("GITHUB_STEP_SUMMARY", page)
	t.Setenv("K8S_VERSION", "1.36.4")
	write := func(file, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	says := func(wants ...string) string {
		if err := sumUp(dir); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(got), want) {
				t.Errorf("want %q in\n%s", want, got)
			}
		}
		return string(got)
	}
	write(page, "before\n")
	says("before\n", "Kubernetes v1.36.4", "Nothing has left a result.")

	write(page, "")
	write(filepath.Join(dir, "flake/rates.md"), "| rates |\n")
	write(filepath.Join(dir, "mutants/verdicts.md"), "| verdicts |\n")
	if got := says("| rates |", "| verdicts |"); strings.Contains(got, "Nothing") {
		t.Errorf("there are results, but it says\n%s", got)
	}
}
