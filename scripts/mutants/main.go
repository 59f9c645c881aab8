// Command mutants tries the tests on the operator's mutants. It is what `make test-mutants` runs.
//
// Most mutants are invented: package invent changes each statement, condition, result, builder's call, field and
// constant of the operator in turn. All of them are compiled into one program (mutant schemata), which one control
// plane serves. It learns which tests and specs reach which mutants; a mutant meets these, the fastest first, until one
// fails. Who survives is told with its diff and with those that let it through. Of the manifests and CRDs, each field and
// element is dropped and each value changed in turn; their tests read them from files, so nothing is built for a mutant.
//
// A few mutants are seeded: designs gone wrong, of more than a line. Each names the test or the oracle that must notice
// it, and is built by itself. A mutant proves something of a test only if the test passes without it. So the tests are run on the
// operator as it is first.
//
// The environment says what to try, as the Makefile's variables FOCUS, SINCE, PROCS, SPECS, TESTS and MUTATE do. FOCUS knows
// seeded mutants by a suite, a class and a name, such as unit/status/drift-not-repaired, and invented ones by a file, a line, a
// function and a class.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

// operatorFolder has the code that is changed unless another folder is named.
const operatorFolder = "operator"

// folder is where the mutants are built and tried.
const folder = "_artifacts/mutants"

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "mutants: it takes no arguments: its variables are those of `make test-mutants`, see `make help`")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted; nothing is left running")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	o, err := readOptions(ctx)
	if err != nil {
		return err
	}
	shop, err := openWorkshop(".", folder)
	if err != nil {
		return err
	}
	defer shop.close()
	table, err := os.Create(filepath.Join(shop.dir, "verdicts.md"))
	if err != nil {
		return err
	}
	defer table.Close()
	told := newTeller(os.Stdout, table)

	begin := time.Now()
	in, err := newInvention(shop, o, told)
	if err != nil {
		return err
	}
	var seeded []mutants.Mutant
	if o.since == nil && !o.unitsOnly && o.folder == operatorFolder {
		seeded = focused(mutants.All(), o.focus)
	}
	if len(seeded)+len(in.mutants) == 0 {
		if o.since != nil {
			fmt.Println("no mutant is in the lines that have changed")
			return nil
		}
		return fmt.Errorf("FOCUS=%s matches no mutant; they have names such as %s and controller/status.go:12", o.focus, mutants.All()[0])
	}
	if err := in.try(ctx); err != nil {
		return err
	}
	invented := error(nil)
	if len(in.mutants) > 0 {
		invented = in.tellScore(o.since == nil && o.focus.String() == "", time.Since(begin))
	}
	if len(seeded) == 0 {
		return invented
	}
	t := trial{shop, suites, told}
	if err := t.baseline(ctx, seeded); err != nil {
		return errors.Join(invented, err)
	}
	return errors.Join(invented, t.tryAll(ctx, seeded, o.procs))
}

// readOptions reads them from the environment.
func readOptions(ctx context.Context) (o options, err error) {
	if o.focus, err = regexp.Compile(os.Getenv("FOCUS")); err != nil {
		return o, fmt.Errorf("FOCUS is no regular expression: %w", err)
	}
	if o.procs, err = strconv.Atoi(cmp.Or(os.Getenv("PROCS"), "2")); err != nil || o.procs < 1 {
		return o, fmt.Errorf("PROCS=%s is no number of mutants to try at a time: make it 1 or more", os.Getenv("PROCS"))
	}
	if o.most, err = strconv.Atoi(cmp.Or(os.Getenv("SPECS"), "0")); err != nil || o.most < 0 {
		return o, fmt.Errorf("SPECS=%s is no number of specs: make it 1 or more, or leave it empty for all", os.Getenv("SPECS"))
	}
	switch tests := os.Getenv("TESTS"); tests {
	case "", "unit":
		o.unitsOnly = tests == "unit"
	default:
		return o, fmt.Errorf("TESTS=%s is neither empty nor unit", tests)
	}
	switch o.folder = path.Clean(cmp.Or(os.Getenv("MUTATE"), operatorFolder)); o.folder {
	case operatorFolder:
		o.tests, o.manifests = []string{"operator/controller", "operator"}, true
	case manifestFolder:
		o.manifests = true
	default:
		o.tests, o.unitsOnly = []string{o.folder}, true
	}
	if o.since, err = changesSince(ctx, os.Getenv("SINCE"), o.folder); err != nil {
		return o, err
	}
	o.accepted, err = readAccepted(acceptedFile)
	return o, err
}

// focused are the seeded mutants whose names match.
func focused(all []mutants.Mutant, focus *regexp.Regexp) []mutants.Mutant {
	return slices.DeleteFunc(all, func(m mutants.Mutant) bool { return !focus.MatchString(m.String()) })
}
