package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// sourceOf returns a package that consists of one file without imports. The package is named time, so that it can declare
// the type time.Duration.
func sourceOf(t *testing.T, code string) *source {
	t.Helper()
	s, err := parse("example.com/time", map[string][]byte{"/a.go": []byte("package time\n" + code)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each paragraph of testdata/mutants.txt contains a line of code, followed by an excerpt from each of its mutants.
func TestMutants(t *testing.T) {
	text, err := os.ReadFile("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		t.Run(lines[0], func(t *testing.T) {
			s, rest := sourceOf(t, lines[0]), map[string]bool{}
			for _, m := range s.mutants() {
				if err := s.compile(m.files); err != nil {
					t.Errorf("%s: %v", m.diff, err)
				}
				_, added, _ := strings.Cut(m.diff, "\n")
				rest[m.name+" "+strings.TrimSuffix(added, "\n")] = true
			}
			for _, want := range lines[1:] {
				found := false
				for mutant := range rest {
					if found = strings.Contains(mutant, strings.TrimPrefix(want, "\t")); found {
						delete(rest, mutant)
						break
					}
				}
				if !found {
					t.Errorf("no mutant contains %q", want)
				}
			}
			for mutant := range rest {
				t.Errorf("got mutant %q", mutant)
			}
		})
	}
}

func TestChangesTouchMutants(t *testing.T) {
	c := readDiff("--- a/x.go\n+++ b/x.go\n@@ -3,0 +5,2 @@ func f() {\n+\ta\n+\tb\n@@ -9,2 +12,0 @@\n")
	for line, want := range map[int]bool{4: false, 5: true, 6: true, 7: false, 12: false} {
		if got := c.touch(&mutant{file: "x.go", first: line, last: line}); got != want {
			t.Errorf("line %d: got %t, want %t", line, got, want)
		}
	}
}

func TestReadEquivalents(t *testing.T) {
	got, err := readEquivalents("-a\n+b\nNobody can tell.\n\n-c\nNothing reads it.\n")
	if want := map[string]string{"-a\n+b\n": "Nobody can tell.", "-c\n": "Nothing reads it."}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := readEquivalents("-a\n+b\n"); err == nil {
		t.Error("got no error for a diff without a reason")
	}
}

func TestFailedTestKills(t *testing.T) {
	for out, want := range map[string]bool{
		"--- FAIL: TestA (0s)\n    --- FAIL: TestA/b (0s)\n        a_test.go:1: wrong\nFAIL":                           true,
		"Running Suite: A\n  [FAIL] B [It] c\n--- FAIL: TestA (0s)\nFAIL":                                              true,
		"Running Suite: A\n  [PANICKED!] B [It] c\n--- FAIL: TestA (0s)\nFAIL":                                         true,
		"--- FAIL: TestA (1s)\npanic: test timed out after 5m0s":                                                       false,
		"--- FAIL: TestPlans (0s)\n    plans_test.go:9: the fault of plan \"a\" was not triggered: the operator\nFAIL": false,
		"Running Suite: A\n  [FAIL] [BeforeSuite] \n--- FAIL: TestA (0s)\nFAIL":                                        false,
		"Running Suite: A\n--- FAIL: TestA (0s)\nFAIL! -- Detected no specs":                                           false,
		"listen tcp :6443: bind: address already in use\nFAIL":                                                         false,
	} {
		if got := namesFailedTest(out); got != want {
			t.Errorf("%s: got %t, want %t", out, got, want)
		}
	}
}

// The unit tests in testdata/tiny kill every mutant except a <= b. The suites must run only for the remaining mutant.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("needs processes")
	}
	t.Chdir("testdata/tiny")
	t.Cleanup(func() { os.RemoveAll("_artifacts"); os.Remove("suite") })
	for name, test := range map[string]struct {
		suites             []string
		err, output, junit string
	}{
		"every mutant is killed": {[]string{"echo >>suite; go test ."}, "", "score      100.0%: 3 of 3 killed", `tests="3" disabled="0" errors="0" failures="0"`},
		"a mutant survives":      {nil, "the score is 66.7%, want 97%", "survived   tiny.go:4 operator #3\n-func less", `errors="0" failures="1"`},
		"a suite does not compile": {[]string{"echo FAIL example.com/tiny [build failed]; exit 1"}, "1 of 3 mutants could not be tested",
			"\nuntested   tiny.go:4 operator #3\nthe tests do not compile:\nFAIL example.com/tiny [build failed]\n", `errors="1" failures="0"`},
		"a suite cannot run": {[]string{"echo no control plane; exit 1"}, "1 of 3 mutants could not be tested",
			"\nuntested   tiny.go:4 operator #3\nthe suite failed, but not because of the mutant:\nno control plane\n\nscore      100.0%: 2 of 2 killed, see", `errors="1" failures="0"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := options{out: &out, focus: regexp.MustCompile(""), packages: []string{"."}, suites: test.suites}.run(t.Context())
			if got := fmt.Sprint(err); (err == nil) != (test.err == "") || !strings.Contains(got, test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !strings.Contains(out.String(), test.output) {
				t.Errorf("got output %s, want %s", &out, test.output)
			}
			if junit, err := os.ReadFile(filepath.Join(resultsDir, "junit.xml")); err != nil || !strings.Contains(string(junit), test.junit) {
				t.Errorf("got %s, %v, want %s", junit, err, test.junit)
			}
		})
	}
	if runs, _ := os.ReadFile("suite"); string(runs) != "\n" {
		t.Errorf("the suite ran %d times, want 1", len(runs))
	}
}

func TestSeededMutantsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("needs processes")
	}
	t.Chdir("../..")
	s, err := load(t.Context(), "./operator/controller")
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range mutants.All {
		files, err := seed.Apply("operator")
		if err = errors.Join(err, s.compile(files)); err != nil {
			t.Errorf("mutant %s does not compile: %v", seed.Name, err)
		}
	}
}
