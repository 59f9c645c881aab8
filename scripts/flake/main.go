// Command flake repeats suites, and reports how often each of their tests has failed. A test that fails
// once in twenty runs is not trusted by anybody, and is found by nothing but runs.
//
// Each run is one of make's, as a person would start it, so FOCUS, PROCS, E2E_PROVIDER and the other variables
// hold. Evidence of failures is where the suites leave it; what each run printed is in _artifacts/flake.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

const usage = `Usage: flake

Repeats suites and reports the rate of failures of each test. It fails when any has failed.

Environment:
  N       how often, default 10
  SUITES  the targets of make that are repeated, default "test-integration e2e"
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := repeatAsAsked(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "flake:", err)
		os.Exit(1)
	}
}

func repeatAsAsked(ctx context.Context) error {
	times := 10
	if asked := os.Getenv("N"); asked != "" {
		var err error
		if times, err = strconv.Atoi(asked); err != nil || times < 1 {
			return fmt.Errorf("N=%s is no number of runs: set 1 or more", asked)
		}
	}
	suites := strings.Fields(os.Getenv("SUITES"))
	if len(suites) == 0 {
		suites = []string{"test-integration", "e2e"}
	}
	c := &campaign{dir: "_artifacts", out: os.Stdout}
	return c.run(ctx, times, suites)
}
