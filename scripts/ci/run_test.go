package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// played plays a workflow and returns what it told, and the results of its jobs.
func played(t *testing.T, text, job, only string) (string, map[string]string, error) {
	t.Helper()
	w, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	chosen, leftOut, err := choose(w, job, only)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := &runner{workflow: w, out: &out, results: map[string]string{}}
	err = r.run(t.Context(), chosen, leftOut)
	return out.String(), r.results, err
}

const threeJobs = `
env: {FLAVOUR: plain}
jobs:
  gate:
    needs: [one, two]
    if: always()
    timeout-minutes: 1
    steps:
      - env: {RESULTS: "${{ join(needs.*.result, ' ') }}"}
        run: echo "gate sees $RESULTS"; [ "$RESULTS" = "success success" ]
  one:
    timeout-minutes: 1
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
      - run: ONE
      - run: echo one goes on
      - if: always()
        run: echo one sums up
      - if: failure() || cancelled()
        run: echo one has failed
  two:
    timeout-minutes: 1
    strategy:
      matrix:
        size: [1, 2]
    env: {SIZE: "${{ matrix.size }}"}
    steps:
      - run: echo "two is of size $SIZE, $FLAVOUR, CI=$CI"; [ "$SIZE" -le MOST ]
`

func jobs(one, most string) string {
	return strings.NewReplacer("ONE", one, "MOST", most).Replace(threeJobs)
}

func TestJobsAreRunInOrderAndTheGateJudges(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "somewhere")
	out, results, err := played(t, jobs("echo one works, assets=$KUBEBUILDER_ASSETS.", "2"), "", "")
	if err != nil || results["gate"] != succeeded {
		t.Errorf("got %v, %v", results, err)
	}
	for _, want := range []string{
		"leaves out actions/checkout", "one works, assets=.", "one goes on", "one sums up",
		"two is of size 1, plain, CI=true", "two is of size 2", "gate sees success success", "two (2)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing said %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "one has failed") {
		t.Error("what is for failures was run without one")
	}
}

func TestAFailureIsHandledAsOnGitHub(t *testing.T) {
	out, results, err := played(t, jobs("false", "1"), "", "")
	if err == nil || results["one"] != failed || results["two"] != failed || results["gate"] != failed {
		t.Errorf("got %v, %v", results, err)
	}
	if strings.Contains(out, "one goes on") {
		t.Error("a job went on after its step had failed")
	}
	for _, want := range []string{"one sums up", "one has failed", "two is of size 1", "gate sees failure failure"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing said %q:\n%s", want, out)
		}
	}
}

func TestAJobThatNeedsAFailedOneIsSkipped(t *testing.T) {
	text := strings.Replace(jobs("false", "2"), "  two:\n", "  two:\n    needs: one\n", 1)
	out, results, err := played(t, text, "", "")
	if err == nil || results["two"] != skipped || !strings.Contains(out, "gate sees failure skipped") {
		t.Errorf("got %v, %v:\n%s", results, err, out)
	}
}

func TestAPartOfTheJobsIsRunAndTheRestNamed(t *testing.T) {
	out, results, err := played(t, jobs("true", "2"), "two", "size=2")
	if err != nil || len(results) != 1 || strings.Contains(out, "size 1") {
		t.Errorf("got %v, %v:\n%s", results, err, out)
	}
	for _, want := range []string{"two (1)              left out", "one                  left out", "the gate was not judged"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing said %q:\n%s", want, out)
		}
	}
}

func TestTheGateDoesNotJudgeAPartOfTheJobs(t *testing.T) {
	out, results, err := played(t, jobs("true", "2"), "", "size=2")
	if err != nil || results["one"] != succeeded || results["two"] != succeeded || results["gate"] != "" || strings.Contains(out, "gate sees") {
		t.Errorf("got %v, %v:\n%s", results, err, out)
	}
	for _, want := range []string{"two (1)              left out", "gate                 left out", "the gate was not judged"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing said %q:\n%s", want, out)
		}
	}
}

func TestEachJobSeesItsOwnResultsOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"integration", "ci/two-1/faults"} {
		if err := os.MkdirAll("_artifacts/"+folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := played(t, jobs("mkdir -p _artifacts/integration/one; false", "2 ] && mkdir -p _artifacts/e2e-$SIZE && [ 1"), "", "")
	var folders []string
	for _, pattern := range []string{"_artifacts/*", "_artifacts/ci/*/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, found...)
	}
	if want := []string{"_artifacts/ci", "_artifacts/ci/before/integration", "_artifacts/ci/one/integration",
		"_artifacts/ci/two-1/e2e-1", "_artifacts/ci/two-2/e2e-2"}; !slices.Equal(folders, want) {
		t.Errorf("got %q, want %q:\n%s", folders, want, out)
	}
	if !strings.Contains(out, "two (2)              has left its results in _artifacts/ci/two-2\n") {
		t.Errorf("it does not say where results are:\n%s", out)
	}
}

func TestAnInterruptEndsWhatRuns(t *testing.T) {
	// It ends its child, which is told nothing: bash has what it runs in the background ignore interrupts.
	w, err := parse([]byte(jobs("trap 'echo tidied up; kill 0' INT; sleep 60 & echo begun; wait", "2")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	out := &interrupting{at: "begun", interrupt: interrupt}
	r := &runner{workflow: w, out: out, results: map[string]string{}}
	chosen, _, _ := choose(w, "", "")
	began := time.Now()
	err = r.run(ctx, chosen, nil)
	if err == nil || r.results["one"] != cancelled || r.results["gate"] != cancelled || time.Since(began) > 30*time.Second {
		t.Errorf("got %v, %v after %s", r.results, err, time.Since(began))
	}
	if !strings.Contains(out.said.String(), "tidied up") {
		t.Errorf("what ran was not let to tidy up:\n%s", out.said.String())
	}
}

// interrupting interrupts when it is told something.
type interrupting struct {
	said      bytes.Buffer
	at        string
	interrupt func()
}

func (i *interrupting) Write(text []byte) (int, error) {
	if strings.HasPrefix(string(text), i.at) {
		i.interrupt()
	}
	return i.said.Write(text)
}

func TestWhatCannotBePlayedIsRefused(t *testing.T) {
	for text, complaint := range map[string]string{
		"jobs: {a: {services: {}}}":         "services not found",
		"jobs: {a: {steps: [{shell: sh}]}}": "shell not found",
		"jobs: {a: {needs: b}}":             "needs b, which is none",
		"jobs: {}":                          "no job",
		"jobs: {a: {strategy: {matrix: '${{ fromJSON(x) }}'}}}": "cannot unmarshal",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: want %q, got %v", text, complaint, err)
		}
	}
	for text, complaint := range map[string]string{
		"jobs: {a: {timeout-minutes: 1, steps: [{run: 'echo ${{ github.sha }}'}]}}": "${{ github.sha }} means nothing",
		"jobs: {a: {if: github.ref == 'x', steps: []}}":                             "no condition that this machine can judge",
	} {
		if _, _, err := played(t, text, "", ""); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: want %q, got %v", text, complaint, err)
		}
	}
}

func TestAWrongChoiceIsExplained(t *testing.T) {
	w, err := parse([]byte(jobs("true", "2")))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ job, only, complaint string }{
		{"gate", "", "gate judges the other jobs: run it with them"},
		{"three", "", "JOB=three is none of the workflow's jobs: set one of gate, one, two"},
		{"", "size", "MATRIX=size selects nothing"},
		{"", "size=3", "MATRIX=size=3: no matrix has that value"},
	} {
		if _, _, err := choose(w, test.job, test.only); err == nil || !strings.Contains(err.Error(), test.complaint) {
			t.Errorf("want %q, got %v", test.complaint, err)
		}
	}
}

func TestAMatrixIsExpandedAsOnGitHub(t *testing.T) {
	for name, test := range map[string]struct {
		matrix matrix
		want   []string
	}{
		"none":                      {nil, []string{""}},
		"a product":                 {matrix{"a": {1, 2}, "b": {"x", "y"}}, []string{"1, x", "1, y", "2, x", "2, y"}},
		"nothing but what is added": {matrix{"include": {map[string]any{"a": 1}, map[string]any{"a": 2}}}, []string{"1", "2"}},
		"more of a product":         {matrix{"a": {1, 2}, "include": {map[string]any{"a": 2, "b": "x"}}}, []string{"1", "2, x"}},
		"more of every product":     {matrix{"a": {1, 2}, "include": {map[string]any{"b": "x"}}}, []string{"1, x", "2, x"}},
		"another product":           {matrix{"a": {1}, "include": {map[string]any{"a": 3}}}, []string{"1", "3"}},
	} {
		var got []string
		for _, p := range test.matrix.parts() {
			got = append(got, p.title())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
