package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// module is a small module with two suites.
var module = map[string]string{
	"go.mod": "module example.com/sums\n\ngo 1.26\n",
	"go.sum": "", "Makefile": "", "README.md": "", "scripts/tools/go.mod": "",
	"operator/sums/sums.go": `package sums

func Add(a, b int) int { return a + b }

func Double(a int) int { return Add(a, a) }

const Name = "sums"
`,
	"operator/sums/sums_test.go": `package sums

import "testing"

func TestAdd(t *testing.T) {
	t.Run("two_and_three", func(t *testing.T) {
		if got := Add(2, 3); got != 5 {
			t.Errorf("the oracle says %d", got)
		}
	})
}

func TestDouble(t *testing.T) {
	if Double(4) == 4 {
		t.Error("it is the same")
	}
}
`,
	"test/whole/whole_test.go": `package whole

import (
	"os"
	"testing"

	"example.com/sums/operator/sums"
)

func TestName(t *testing.T) {
	if sums.Name != "sums" {
		t.Error("it has another name")
	}
}

func TestPlans(t *testing.T) {
	if plan := os.Getenv("PLAN"); plan != "" && sums.Name != plan {
		t.Errorf("not as planned: %s", sums.Name)
	}
}
`,
}

// newWorkshop is that of a module with these files.
func newWorkshop(t *testing.T, files map[string]string) *workshop {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	shop, err := openWorkshop(root, filepath.Join(root, "_artifacts", "mutants"))
	noError(t, err)
	t.Cleanup(shop.close)
	return shop
}

// newTrial sets up a workshop for the small module.
func newTrial(t *testing.T) (it *trial, told, table *bytes.Buffer) {
	t.Helper()
	told, table = &bytes.Buffer{}, &bytes.Buffer{}
	return &trial{newWorkshop(t, module), []suite{
		{mutants.Unit, "operator/sums", goArguments, "-test.failfast", "-test.timeout", time.Minute, readGo},
		{mutants.Faults, "test/whole", goArguments, "-test.failfast", "-test.timeout", time.Minute, readGo},
	}, &teller{out: told, table: table}}, told, table
}

// mutant is one of the small module, by what it replaces.
func mutant(name, old, replacement, caughtBy string) mutants.Mutant {
	return mutants.Mutant{Name: name, Class: "sums", Suite: mutants.Unit, KilledBy: caughtBy,
		Edits: []mutants.Edit{{File: "sums/sums.go", Old: old, New: replacement}}}
}

func TestAMutantIsKilledByWhatItNamesOrItSurvives(t *testing.T) {
	trial, _, _ := newTrial(t)
	planned := mutant("planned", `"sums"`, `"other"`, "not as planned")
	planned.Suite, planned.Plan = mutants.Faults, "sums"
	other := mutant("killed-by-another", "a + b", "a - b", "TestDouble")
	other.Run = "TestAdd|TestDouble"
	for _, test := range []struct {
		mutant mutants.Mutant
		killed bool
		by     string
		err    string
	}{
		{mutant("killed-by-a-test", "a + b", "a - b", "TestAdd/two_and_three"), true, "TestAdd/two_and_three: sums_test.go:8: the oracle says -1", ""},
		{func() mutants.Mutant {
			m := mutant("killed-by-words", "a + b", "a - b", "the oracle says")
			m.Run = "TestAdd"
			return m
		}(), true, "TestAdd/two_and_three", ""},
		{planned, true, "TestPlans: whole_test.go:18: not as planned: other", ""},
		{other, false, "TestAdd/two_and_three", ""},
		{mutant("let-through", "a + b", "a - b", "TestDouble"), false, "", ""},
		{mutant("not-compiled", "a + b", "a + c", "TestAdd"), false, "", "undefined: c"},
	} {
		t.Run(test.mutant.Name, func(t *testing.T) {
			v := trial.try(t.Context(), test.mutant)
			if v.killed != test.killed || !strings.HasPrefix(v.by, test.by) || test.by == "" && v.by != "" {
				t.Errorf("killed is %t, by %q", v.killed, v.by)
			}
			if (test.err == "") != (v.err == nil) || v.err != nil && !strings.Contains(v.err.Error(), test.err) {
				t.Errorf("the error is %v", v.err)
			}
			_, gone := os.Stat(filepath.Join(trial.shop.dir, "sums-"+test.mutant.Name))
			if os.IsNotExist(gone) != test.killed {
				t.Errorf("what it was tried in is gone: %t", os.IsNotExist(gone))
			}
		})
	}
}

func TestAHangEndsAndIsSaid(t *testing.T) {
	trial, _, _ := newTrial(t)
	trial.suites[0].limit = time.Second
	v := trial.try(t.Context(), mutant("hanging", "a + b", "func() int { select {} }()", "TestAdd"))
	if v.killed || v.err == nil || !strings.HasSuffix(v.err.Error(), ": panic: test timed out after 1s") {
		t.Errorf("killed is %t, the error is %v", v.killed, v.err)
	}
}

func TestAKillProvesNothingOfATestThatFailsAnyway(t *testing.T) {
	trial, told, _ := newTrial(t)
	add, name := mutant("add", "a + b", "a - b", "TestAdd"), mutant("name", `"sums"`, `"other"`, "TestName")
	name.Suite = mutants.Faults
	if err := trial.baseline(t.Context(), []mutants.Mutant{add, name}); err != nil {
		t.Error(err)
	}
	if lines := strings.Count(told.String(), "passed"); lines != 2 {
		t.Errorf("it has told\n%s", told)
	}

	name.KilledBy = "TestNone"
	if err := trial.baseline(t.Context(), []mutants.Mutant{add, name}); err == nil || err.Error() != `mutant name: faults has no test that matches "TestNone"` {
		t.Errorf("got %v", err)
	}

	name.Plan = "impossible"
	err := trial.baseline(t.Context(), []mutants.Mutant{add, name})
	if err == nil || !strings.HasPrefix(err.Error(), "faults fails without any mutant, so its failures prove nothing: make it pass first: TestPlans") {
		t.Errorf("got %v", err)
	}
}

func TestTheSumFailsUnlessAllAreKilled(t *testing.T) {
	trial, told, table := newTrial(t)
	good, bad := mutant("good", "a + b", "a - b", "TestAdd"), mutant("bad", "a, a", "2, 2*a-2", "TestDouble")
	bad.Description = "Nobody notices."
	if err := trial.tryAll(t.Context(), []mutants.Mutant{good}, 2); err != nil {
		t.Error(err)
	}
	err := trial.tryAll(t.Context(), []mutants.Mutant{good, bad}, 2)
	if err == nil || err.Error() != "1 of 2 mutants were not killed by what they name" {
		t.Errorf("got %v", err)
	}
	expectParts(t, told.String(), "",
		"1 of 1 mutants killed", "1 of 2 mutants killed", "unit/sums/good", "killed", "unit/sums/bad", "SURVIVED",
		"bug       Nobody notices.", "what it names has let it through", "rerun     make test-mutants FOCUS='^unit/sums/bad$'",
	)
	expectParts(t, table.String(), "", "| unit/sums/good | killed | ", "| unit/sums/bad | SURVIVED | ", " | what it names has let it through |\n")
}

func TestOneRunAtATime(t *testing.T) {
	trial, _, _ := newTrial(t)
	_, err := openWorkshop(".", trial.shop.dir)
	if err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("got %v", err)
	}
}

func TestAFocusPicksSeededMutants(t *testing.T) {
	all := len(mutants.All())
	if some := len(focused(mutants.All(), regexp.MustCompile("^unit/"))); some == 0 || some == all {
		t.Errorf("%d of %d are picked", some, all)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
