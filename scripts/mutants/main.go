// Command mutants tries the tests on the operator's mutants, to see that each is noticed by the test or
// the oracle that it names. It is what `make test-mutants` runs.
//
// A mutant proves something of a test only if the test passes without it. So the tests that the mutants
// name are run on the operator as it is first. Then each mutant is built, and the tests that it names
// are run to the first failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"github.com/operator-assay/assay/test/fixtures/mutants"
)

const usage = `Usage: mutants

Builds each mutant of the operator and checks that the tests notice it. It is run in the module's root.
What was not noticed as it should be is kept in ` + folder + `, to be looked at.

Environment:
  FOCUS                regular expression of the mutants to try, by suite, class and name:
                       '^unit/', '/status/', owner-check-dropped
  PROCS                how many mutants are tried at a time, default 2; each that needs one has a
                       control plane to itself
  KUBEBUILDER_ASSETS   the folder with the control plane's binaries, see make control-plane
`

// folder is where the mutants are built and tried.
const folder = "_artifacts/mutants"

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
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
	selected, err := focused(mutants.All(), os.Getenv("FOCUS"))
	if err != nil {
		return err
	}
	procs, err := strconv.Atoi(valueOr(os.Getenv("PROCS"), "2"))
	if err != nil || procs < 1 {
		return fmt.Errorf("PROCS=%s is no number of mutants to try at a time: make it 1 or more", os.Getenv("PROCS"))
	}
	shop, err := openWorkshop(".", folder)
	if err != nil {
		return err
	}
	defer shop.close()
	if err := fit(shop, selected); err != nil {
		return err
	}
	table, err := os.Create(filepath.Join(shop.dir, "verdicts.md"))
	if err != nil {
		return err
	}
	defer table.Close()
	t := trial{shop, suites, newTeller(os.Stdout, table)}
	if err := t.baseline(ctx, selected); err != nil {
		return err
	}
	return t.tryAll(ctx, selected, procs)
}

// focused are the mutants whose names match.
func focused(all []mutants.Mutant, focus string) ([]mutants.Mutant, error) {
	matches, err := regexp.Compile(focus)
	if err != nil {
		return nil, fmt.Errorf("FOCUS is no regular expression: %w", err)
	}
	var selected []mutants.Mutant
	for _, mutant := range all {
		if matches.MatchString(mutant.String()) {
			selected = append(selected, mutant)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("FOCUS=%s matches none of %d mutants, which have names such as %s", focus, len(all), all[0])
	}
	return selected, nil
}

// fit checks that the mutants can be made of the operator as it is, all before the first is tried.
func fit(shop *workshop, selected []mutants.Mutant) error {
	var misfits []error
	for _, mutant := range selected {
		_, err := mutant.Apply(shop.operator())
		misfits = append(misfits, err)
	}
	return errors.Join(misfits...)
}

func valueOr(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
