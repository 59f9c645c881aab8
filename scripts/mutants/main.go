// Command mutants checks that the tests notice small changes to Go code. `make test-mutants` runs it on the operator.
//
// The tests of the changed package run first, in short mode. The suites then run against the surviving mutants. Mutants
// are compiled with Go's -overlay flag, so no files are copied.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/test/fixtures/mutants"
)

const (
	resultsDir = "_artifacts/mutants"
	enough     = 97 // a run with a lower score fails, in percent
)

type options struct {
	out      io.Writer
	since    string
	focus    *regexp.Regexp
	suites   []string
	packages []string
}

func main() {
	o := options{out: os.Stdout, focus: regexp.MustCompile("")}
	flag.StringVar(&o.since, "since", "", "Test only mutants in lines that differ from this `revision` of git.")
	flag.TextVar(o.focus, "focus", o.focus, "Test only mutants whose name matches this regular `expression`.")
	flag.Func("suite", "A shell `command` that runs against the mutants that survived the unit tests and the suites before it.", func(text string) error {
		o.suites = append(o.suites, text)
		return nil
	})
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	test := o.generated
	if slices.Equal(o.packages, []string{"seeded"}) {
		test = o.seeded
	}
	tested, err := test(ctx, runner{dir, o.out})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	return o.summarize(tested)
}

func (o options) generated(ctx context.Context, r runner) ([]*result, error) {
	tested, err := o.generate(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range o.packages {
		if out, err := r.run(ctx, nil, unit(path)...); err != nil || out != "" {
			return nil, cmp.Or(err, fmt.Errorf("the tests of %s fail without a mutant:\n%s", path, out))
		}
	}
	r.testSurvivors("go test -short", tested, func(result *result) (string, error) {
		return r.run(ctx, result.mutant, unit(result.path)...)
	})
	for _, suite := range o.suites {
		r.testSurvivors(suite, tested, func(result *result) (string, error) { return r.suite(ctx, result.mutant, "sh", "-c", suite) })
	}
	return tested, nil
}

func (o options) generate(ctx context.Context) (tested []*result, err error) {
	text, err := os.ReadFile(equivalentsFile)
	if err != nil {
		return nil, err
	}
	accepted, err := readEquivalents(string(text))
	if err != nil {
		return nil, err
	}
	var changed changes
	if o.since != "" {
		if changed, err = changesSince(ctx, o.since); err != nil {
			return nil, err
		}
	}
	broken := 0
	for _, pattern := range o.packages {
		s, err := load(ctx, pattern)
		if err != nil {
			return nil, err
		}
		for _, m := range s.mutants() {
			if !o.focus.MatchString(m.name) || o.since != "" && !changed.touch(m) {
				continue
			}
			if s.compile(m.files) != nil {
				broken++
			} else {
				tested = append(tested, &result{mutant: m, accepted: accepted[m.diff]})
			}
		}
	}
	fmt.Fprintf(o.out, "mutants    %d, and %d that do not compile\n", len(tested), broken)
	return tested, nil
}

func (o options) seeded(ctx context.Context, r runner) ([]*result, error) {
	var tested []*result
	commands := map[*result][]string{}
	for _, seed := range mutants.All {
		if !o.focus.MatchString(seed.Name) {
			continue
		}
		files, err := seed.Apply("operator")
		if err != nil {
			return nil, err
		}
		result := &result{mutant: &mutant{name: seed.Name, diff: seed.Description + "\n", files: files}}
		tested, commands[result] = append(tested, result), seed.Command()
	}
	r.testSurvivors("seeded", tested, func(result *result) (string, error) { return r.suite(ctx, result.mutant, commands[result]...) })
	return tested, nil
}

// summarize reports the results. It returns an error if the score is too low or if a mutant is untested.
func (o options) summarize(tested []*result) error {
	suite := reporters.JUnitTestSuite{Name: "mutants"}
	var survivors, untested []*result
	killed := 0
	for _, r := range tested {
		test := reporters.JUnitTestCase{Name: r.name, Classname: suite.Name, Time: r.took.Seconds(), Status: results.Passed}
		switch {
		case r.accepted != "":
			test.Status, test.Skipped = results.Skipped, &reporters.JUnitSkipped{Message: r.accepted}
		case r.untested != nil:
			test.Status, test.Error = results.Failed, &reporters.JUnitError{Message: r.untested.Error(), Type: "untested"}
			untested = append(untested, r)
		case !r.killed:
			test.Status, test.Failure = results.Failed, &reporters.JUnitFailure{Message: "survived\n" + r.diff, Type: results.Failed}
			survivors = append(survivors, r)
		default:
			killed++
		}
		suite.TestCases = append(suite.TestCases, test)
	}
	err := results.WriteJUnit(resultsDir, suite)
	for _, r := range survivors {
		fmt.Fprintf(o.out, "\nsurvived   %s\n%s", r.name, r.diff)
	}
	for _, r := range untested {
		fmt.Fprintf(o.out, "\nuntested   %s\n%s\n", r.name, strings.TrimSpace(r.untested.Error()))
	}
	counted := killed + len(survivors)
	if len(untested) > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d mutants could not be tested: fix the reasons above and run again", len(untested), counted+len(untested)))
	}
	if counted == 0 {
		fmt.Fprintln(o.out, "no score, because no mutant was killed or survived")
		return err
	}
	score := 100 * float64(killed) / float64(counted)
	fmt.Fprintf(o.out, "\nscore      %.1f%%: %d of %d killed, see %s\n", score, killed, counted, resultsDir)
	if score < enough {
		err = errors.Join(err, fmt.Errorf("the score is %.1f%%, want %d%%: test what survived, delete it, or explain in %s why no test can kill it", score, enough, equivalentsFile))
	}
	return err
}
