// Command explore plays the scenarios of a file under every fault, with any operator's binary. It is
// what `make explore` runs.
//
//	OPERATOR   the operator's binary
//	ARGUMENTS  what it is started with; $KUBECONFIG stands for the file that names the API server
//	SCENARIOS  a file of scenarios, in the form of package scenarioyaml
//	PLAN       plans to play again, as failures print them, with a ; in between
//	SEED       decides which plans are played where not all are
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/scenario/scenarioyaml"
)

// resultsFile is where programs find the results.
const resultsFile = "_artifacts/explore/results.json"

func main() {
	klog.SetLogger(logr.Discard()) // what libraries say of refused requests would drown what is found
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run explores the operator that the environment names. That it fails a plan is an error.
func run(ctx context.Context, out io.Writer) (err error) {
	operator, err := exec.LookPath(os.Getenv("OPERATOR"))
	if err != nil {
		return fmt.Errorf("OPERATOR=%s is no program to run: give the path of an operator's binary", os.Getenv("OPERATOR"))
	}
	if operator, err = filepath.Abs(operator); err != nil {
		return err
	}
	seed, err := strconv.ParseUint("0"+os.Getenv("SEED"), 10, 64)
	if err != nil {
		return fmt.Errorf("SEED=%s is no number from 0 on", os.Getenv("SEED"))
	}
	if os.Getenv("SCENARIOS") == "" {
		return errors.New("SCENARIOS is not set: give a file of scenarios, such as test/fixtures/naive/scenarios.yaml")
	}
	catalogue, err := scenarioyaml.Load(os.Getenv("SCENARIOS"))
	if err != nil {
		return err
	}
	var plans []explore.Plan
	if text := os.Getenv("PLAN"); text != "" {
		if plans, err = explore.Parse(text, catalogue.Scenarios); err != nil {
			return err
		}
	}

	plane, err := controlplane.Start(ctx, controlplane.Options{CRDs: catalogue.CRDs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	identity, err := plane.User(ctx, "operator", catalogue.Role)
	if err != nil {
		return err
	}
	explorer, err := explore.New(ctx, explore.Options{
		ControlPlane: plane,
		Identity:     identity,
		Operator:     explore.Command(operator, strings.Fields(os.Getenv("ARGUMENTS"))...),
		Scenarios:    catalogue.Scenarios,
		Seed:         seed,
		Progress:     out,
	})
	if err != nil {
		return err
	}
	defer explorer.Close()
	results, err := play(ctx, explorer, plans)
	if len(results) == 0 {
		return err
	}
	return errors.Join(err, report(out, operator, results))
}

// play plays some plans, or all.
func play(ctx context.Context, explorer *explore.Explorer, some []explore.Plan) ([]explore.Result, error) {
	if len(some) == 0 {
		return explorer.Explore(ctx, faultinject.Categories...)
	}
	return explorer.Replay(ctx, some...)
}

// report prints what was found, and how to find it again.
func report(out io.Writer, operator string, results []explore.Result) error {
	arguments := strings.ReplaceAll(os.Getenv("ARGUMENTS"), "$", "$$") // make takes one of them
	fmt.Fprint(out, explore.FailureReport(results, func(plan explore.Plan) string {
		return fmt.Sprintf("make explore OPERATOR=%s SCENARIOS=%s ARGUMENTS='%s' PLAN='%s'", operator, os.Getenv("SCENARIOS"), arguments, plan)
	}))
	fmt.Fprint(out, explore.Table(results))
	if err := os.MkdirAll(filepath.Dir(resultsFile), 0o755); err != nil {
		return err
	}
	file, err := os.Create(resultsFile)
	if err != nil {
		return err
	}
	if err := errors.Join(explore.WriteJSON(file, results), file.Close()); err != nil {
		return err
	}
	return explore.Err(results)
}
