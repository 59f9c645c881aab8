// Command ci plays the workflow of .github/workflows/ci.yaml on this machine: the commands of its jobs, read
// from its own text, one job after the other. So what the gate runs is what was run here, and a person learns
// of a red gate before a push. `make ci` runs it.
//
// What only GitHub can do is left out, and said: steps that use an action, which are checkout, set-up and
// uploads. Jobs need Go, make and git, and e2e-kind a Docker engine, as they do there.
//
// The package's tests are the gate's own: they fail when the workflows break a rule that keeps the gate honest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage: ci

Runs the jobs of .github/workflows/ci.yaml here, one after the other.

Environment:
  JOB     run this job only, for example lint
  MATRIX  run those parts of a job only that have this value, for example kubernetes=v1.37.0

The gate is not judged when anything is left out. What each job leaves is moved to _artifacts/ci.
KUBEBUILDER_ASSETS and KWOK_ASSETS are not passed on: what they name is used whatever its version.
`

const workflowFile = ".github/workflows/ci.yaml"

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := play(ctx, os.Getenv("JOB"), os.Getenv("MATRIX"))
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ci:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, job, part string) error {
	text, err := os.ReadFile(workflowFile)
	if err != nil {
		return fmt.Errorf("no workflow to play: %w: run it from the repository's root", err)
	}
	w, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", workflowFile, err)
	}
	chosen, leftOut, err := choose(w, job, part)
	if err != nil {
		return err
	}
	r := &runner{workflow: w, out: os.Stdout, results: map[string]string{}}
	return r.run(ctx, chosen, leftOut)
}
