// Command mutants changes Go code in many small ways and checks that the tests notice each change. `make test-mutants`
// runs it on the operator.
//
// The tests of the changed package run first, without those that `go test -short` skips. The suites run only against the
// mutants that survived. A mutant takes the place of the original file by Go's -overlay, so nothing is copied.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// resultsFile is where the results are written.
const resultsFile = "_artifacts/mutants/junit.xml"

// enough is the score below which a run fails, in percent.
const enough = 97

type options struct {
	since    string
	focus    *regexp.Regexp
	procs    int
	suites   []string
	packages []string
}

func main() {
	o := options{focus: regexp.MustCompile("")}
	flag.StringVar(&o.since, "since", "", "Test only mutants in lines that differ from this `revision` of git.")
	flag.Func("focus", "Test only mutants whose name matches this regular `expression`.", func(text string) (err error) {
		o.focus, err = regexp.Compile(text)
		return err
	})
	flag.IntVar(&o.procs, "procs", 2, "How many mutants are tested at the same time.")
	flag.Func("suite", "A shell `command` that runs against the mutants that survived the unit tests and the suites before it.", func(text string) error {
		o.suites = append(o.suites, text)
		return nil
	})
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &runner{dir: dir, procs: o.procs}
	var results []*result
	if slices.Equal(o.packages, []string{"seeded"}) {
		if results, err = o.seeded(ctx, r); err != nil {
			return err
		}
	} else if results, err = o.generated(ctx, r); err != nil {
		return err
	}
	return errors.Join(writeJUnit(resultsFile, results), summarize(results))
}

// generated tests the mutants of the packages.
func (o options) generated(ctx context.Context, r *runner) ([]*result, error) {
	accepted, err := readEquivalents(equivalentsFile)
	if err != nil {
		return nil, err
	}
	results, err := o.generate(ctx, accepted)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	if err := o.unitTests(ctx, r, results); err != nil {
		return nil, err
	}
	for _, suite := range o.suites {
		err := stage(r, suite, results, func(result *result) (string, error) {
			return r.run(ctx, result.mutant, nil, "sh", "-c", suite)
		})
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// generate returns the mutants that compile and are asked for.
func (o options) generate(ctx context.Context, accepted equivalents) ([]*result, error) {
	var changed changes
	var err error
	if o.since != "" {
		if changed, err = changesSince(ctx, o.since); err != nil {
			return nil, err
		}
	}
	var results []*result
	begin, broken := time.Now(), 0
	for _, pattern := range o.packages {
		s, err := load(ctx, pattern)
		if err != nil {
			return nil, err
		}
		for _, m := range s.mutants() {
			if !o.focus.MatchString(m.name) || o.since != "" && !changed.touch(m) {
				continue
			}
			if m.files, err = s.compile(m.files); err != nil {
				broken++
				continue
			}
			results = append(results, &result{mutant: m, accepted: accepted[m.diff]})
		}
	}
	fmt.Printf("mutants    %d, and %d that do not compile%9.1fs\n", len(results), broken, time.Since(begin).Seconds())
	if o.since == "" && o.focus.String() == "" {
		return results, accepted.obsolete(results)
	}
	return results, nil
}

// unitTests runs the tests of each mutant's package.
func (o options) unitTests(ctx context.Context, r *runner, results []*result) error {
	limits := map[string]time.Duration{}
	for _, result := range results {
		if limits[result.path] > 0 {
			continue
		}
		limit, err := r.limit(ctx, result.path)
		if err != nil {
			return err
		}
		limits[result.path] = limit
	}
	return stage(r, "go test -short", results, func(result *result) (string, error) {
		return r.run(ctx, result.mutant, nil, unit(result.path, limits[result.path])...)
	})
}

// stage runs a test against all mutants that are still alive.
func stage(r *runner, name string, results []*result, test func(*result) (string, error)) error {
	alive := slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return r.killedBy != "" || r.accepted != "" })
	if len(alive) == 0 {
		return nil
	}
	begin := time.Now()
	err := r.each(alive, func(result *result) error {
		begin := time.Now()
		out, err := test(result)
		result.took += time.Since(begin)
		switch {
		case errors.Is(err, errDoesNotCompile):
			result.accepted = err.Error()
		case err != nil:
			return err
		case out != "":
			result.killedBy = failed(out)
		}
		return nil
	})
	killed := 0
	for _, result := range alive {
		if result.killedBy != "" {
			killed++
		}
	}
	fmt.Printf("tests      %s: %d of %d killed%9.1fs\n", name, killed, len(alive), time.Since(begin).Seconds())
	return err
}

// seeded tests each seeded mutant by the suite that it names.
func (o options) seeded(ctx context.Context, r *runner) ([]*result, error) {
	var results []*result
	seeds := map[*result]mutants.Mutant{}
	for _, seed := range mutants.All {
		if !o.focus.MatchString(seed.String()) {
			continue
		}
		files, err := seed.Apply("operator")
		if err != nil {
			return nil, err
		}
		result := &result{mutant: &mutant{name: seed.String(), path: "operator", diff: seed.Description + "\n", files: files}}
		results, seeds[result] = append(results, result), seed
	}
	return results, stage(r, "seeded", results, func(result *result) (string, error) {
		seed := seeds[result]
		out, err := r.run(ctx, result.mutant, []string{"PLAN=" + seed.Plan}, seed.Command()...)
		if out != "" && !regexp.MustCompile(seed.KilledBy).MatchString(out) {
			fmt.Printf("%s fails otherwise than by %s:\n%s\n", result.name, seed.KilledBy, out)
			return "", err
		}
		return out, err
	})
}

// summarize prints the survivors and the score, and returns an error if the score is too low.
func summarize(results []*result) error {
	killed, counted := 0, 0
	for _, r := range results {
		if r.accepted != "" {
			continue
		}
		counted++
		if r.killedBy != "" {
			killed++
			continue
		}
		fmt.Printf("\nsurvived   %s\n%s", r.name, r.diff)
	}
	if counted == 0 {
		fmt.Println("no mutant is in the lines that changed")
		return nil
	}
	score := 100 * float64(killed) / float64(counted)
	fmt.Printf("\nscore      %.1f%%: %d of %d killed, see %s\n", score, killed, counted, resultsFile)
	if score < enough {
		return fmt.Errorf("the score is %.1f%%, want %d%%: test what survived, delete it, or explain in %s why no test can kill it", score, enough, equivalentsFile)
	}
	return nil
}
