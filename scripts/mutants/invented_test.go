package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sums is a module whose tests notice some of its mutants.
var sums = map[string]string{
	"go.mod": "module example.com/sums\n\ngo 1.26\n",
	"go.sum": "", "Makefile": "", "README.md": "", "scripts/tools/go.mod": "",
	"operator/controller/sums.go": `package controller

func Add(a, b int) int { return a + b }

func Crash(a int) int { return 12 / (a + 1) }

func First(all []int) int {
	if len(all) == 0 {
		return 0
	}
	return all[0]
}

func Untested() bool { return true }
`,
	"operator/controller/sums_test.go": `package controller

import "testing"

func TestAdd(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		t.Errorf("the sum is %d", got)
	}
}

func TestCrash(t *testing.T) {
	if Crash(1) < 1 {
		t.Error("it is too small")
	}
}

func TestFirst(t *testing.T) {
	if First([]int{7, 8}) != 7 {
		t.Error("it is another")
	}
}
`,
	"test/oracle/oracle.go": `package oracle

func Accepts(n int) bool { return n < 3 }
`,
	"test/oracle/oracle_test.go": `package oracle

import (
	"flag"
	"os"
	"testing"
)

var large int

func TestMain(m *testing.M) {
	flag.Parse()
	large = 4
	os.Exit(m.Run())
}

func TestAccepts(t *testing.T) {
	if Accepts(large) {
		t.Error("it is too large")
	}
}

func TestWithAControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs one")
	}
	t.Error("there is none")
}
`,
}

// tryInvented tries mutants of sums by unit tests.
func tryInvented(t *testing.T, o options) (*invention, *bytes.Buffer) {
	t.Helper()
	files := maps.Clone(sums)
	for _, name := range []string{"schemata.go", "task.go", "gotests.go"} {
		text, err := os.ReadFile("../../test/fixtures/mutants/schemata/" + name)
		noError(t, err)
		files["test/fixtures/mutants/schemata/"+name] = string(text)
	}
	told, table := &bytes.Buffer{}, &bytes.Buffer{}
	o.focus, o.procs, o.unitsOnly = regexp.MustCompile(""), 2, true
	in, err := newInvention(newWorkshop(t, files), o, &teller{out: told, table: table})
	noError(t, err)
	noError(t, in.try(t.Context()))
	return in, told
}

// killers are what has killed each mutant, by its name without the prefix; empty if it survived.
func killers(in *invention, prefix string) map[string]string {
	all := map[string]string{}
	for _, f := range in.fates {
		all[strings.TrimPrefix(f.mutant.Name(), prefix)] = f.killedBy
	}
	return all
}

func expectParts(t *testing.T, text, end string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part+end) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	noError(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestInventedMutantsAreKilledOrSurvive(t *testing.T) {
	in, told := tryInvented(t, options{folder: "operator", tests: []string{"operator/controller"}, accepted: map[string]string{
		"operator/controller/sums.go First condition: never len(all) == 0": "because",
		"operator/controller/sums.go Add arithmetic: - for + in a + b":     "wrongly",
		"operator/controller/sums.go gone":                                 "it was deleted",
	}})
	got := killers(in, "operator/controller/sums.go ")
	for name, killer := range map[string]string{
		"Add arithmetic: - for + in a + b":       "TestAdd",
		"Crash arithmetic: - for + in a + 1":     "TestCrash", // its process dies, and the next goes on
		"First condition: always len(all) == 0":  "TestFirst",
		"First condition: never len(all) == 0":   "",
		"Untested return: return zeroes at once": "",
	} {
		if by, invented := got[name]; !invented || by != killer {
			t.Errorf("%s is killed by %q, want %q", name, by, killer)
		}
	}
	if noticed := in.noticed.Load(); noticed != int64(len(in.mutants)-len(in.alive())) || noticed == 0 {
		t.Errorf("%d of %d are noticed, and %d alive", noticed, len(in.mutants), len(in.alive()))
	}
	err := in.tellScore(true, 0)
	expectParts(t, fmt.Sprint(err), "",
		"sums.go Add arithmetic: - for + in a + b is accepted as one that no test can notice, but TestAdd does: take it off",
		"sums.go gone is accepted, but no such mutant is invented any more: take it off",
		"invented mutants survived: delete what they change",
	)
	expectParts(t, told.String(), "\n",
		"SURVIVED operator/controller/sums.go:14 Untested return: return zeroes at once",
		"      +func Untested() bool { return *new(bool); return true }",
		"      nothing reaches it",
		"| condition | 1 | 1 | 0 | 0 | 100.0 % |",
	)
}

func TestAChangeDoesNotTryAcceptedMutants(t *testing.T) {
	const sum, quotient = "operator/controller/sums.go Add arithmetic: - for + in a + b", "operator/controller/sums.go Crash arithmetic: - for + in a + 1"
	in, _ := tryInvented(t, options{folder: "operator", tests: []string{"operator/controller"}, accepted: map[string]string{sum: "because"},
		since: changes{"operator/controller/sums.go": {{1, 6}}}})
	got := killers(in, "")
	if by, invented := got[sum]; !invented || by != "" || got[quotient] != "TestCrash" {
		t.Errorf("the accepted one is killed by %q, and the other by %q", by, got[quotient])
	}
	if err := in.tellScore(false, 0); err != nil && strings.Contains(err.Error(), "take it off") {
		t.Errorf("got %v", err)
	}
}

func TestAWeakenedOracleIsNoticedByItsOwnTests(t *testing.T) {
	in, _ := tryInvented(t, options{folder: "test/oracle", tests: []string{"test/oracle"},
		accepted: map[string]string{"operator/controller/sums.go gone": "it is of another folder", "test/oracle/oracle.go gone": "it was deleted"}})
	got := killers(in, "")
	if want := map[string]string{
		"test/oracle/oracle.go Accepts return: return zeroes at once":        "",
		"test/oracle/oracle.go Accepts return: return the opposite of n < 3": "TestAccepts",
		"test/oracle/oracle.go Accepts comparison: <= for < in n < 3":        "",
		"test/oracle/oracle.go Accepts constant: 3 + 1":                      "",
	}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	err := in.tellScore(true, 0)
	if err == nil || strings.Contains(err.Error(), "sums.go") || !strings.Contains(err.Error(), "test/oracle/oracle.go gone is accepted, but no such mutant") {
		t.Errorf("got %v", err)
	}
}

func TestAnotherPackageIsMutatedIfAsked(t *testing.T) {
	t.Chdir("../..") // which has the list of accepted mutants
	for mutate, want := range map[string]options{
		"":                 {folder: "operator", tests: []string{"operator/controller", "operator"}, manifests: true},
		"operator/config/": {folder: "operator/config", manifests: true},
		"./harness/oracle": {folder: "harness/oracle", tests: []string{"harness/oracle"}, unitsOnly: true},
	} {
		t.Setenv("MUTATE", mutate)
		got, err := readOptions(t.Context())
		if err != nil || got.folder != want.folder || !slices.Equal(got.tests, want.tests) || got.unitsOnly != want.unitsOnly || got.manifests != want.manifests {
			t.Errorf("MUTATE=%s: got %+v, %v", mutate, got, err)
		}
	}
}

func TestTheListOfAcceptedMutants(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	for text, want := range map[string]string{
		"# a comment\na.go f x: y\nb.go g x: y\n\tBoth are\n\tthe same.\n\nc.go h x: y\n\tAnother.\n": "",
		"a.go f x: y\n": "a.go f x: y has no reason",
		"\tA reason.\n": ":1: a reason without a mutant above it",
		"a.go f x: y\n\tOnce.\na.go f x: y\n\tTwice.\n": ":3: a.go f x: y is listed twice",
	} {
		write(t, file, text)
		reasons, err := readAccepted(file)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
		if want == "" && (reasons["a.go f x: y"] != "Both are the same." || reasons["b.go g x: y"] != "Both are the same." || reasons["c.go h x: y"] != "Another.") {
			t.Errorf("got %q", reasons)
		}
	}
	if _, err := readAccepted("../../" + acceptedFile); err != nil {
		t.Error(err)
	}
}

func TestOnlyLinesThatHaveChangedCount(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join("operator", "a.go")
	git := func(arguments ...string) {
		t.Helper()
		arguments = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, arguments...)
		if out, err := exec.CommandContext(t.Context(), "git", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, out)
		}
	}
	git("init", "--quiet")
	write(t, file, "1\n2\n3\n4\n")
	git("add", ".")
	git("commit", "--quiet", "--message=a")
	write(t, file, "1\ntwo\n3\n4\nfive\nsix\n")
	changed, err := changesSince(t.Context(), "HEAD", "operator")
	noError(t, err)
	for line, want := range []bool{false, false, true, false, false, true, true} {
		if changed.include("operator/a.go", line) != want {
			t.Errorf("line %d counts: %t", line, !want)
		}
	}
	if changed.include("operator/b.go", 2) {
		t.Error("a line of another file counts")
	}
	if _, err := changesSince(t.Context(), "no-such-revision", "operator"); err == nil || !strings.HasPrefix(err.Error(), "SINCE=no-such-revision: ") {
		t.Errorf("got %v", err)
	}
}
