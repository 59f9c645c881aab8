package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/report/page"
	"github.com/operator-assay/assay/test/harness/report/results"
	"github.com/operator-assay/assay/test/harness/scenario/scenarioyaml"
)

const exploreHelp = `Run an operator's binary, in any language, through the scenarios of a file, on a real API server, etcd and
kube-controller-manager. Each scenario is run without a fault first: that is the reference. Then it is run once for
every plan, which is a fault at one place: the operator crashes before or after a write, a request fails, a watch
lags. A plan fails if the end differs from the reference, or another oracle finds a bug.

The operator is started with the arguments after --, with KUBECONFIG naming the API server; {kubeconfig} in an
argument stands for that file. Twelve instances run at a time on two CPUs, so switch off leader election, and fixed
ports, as by --metrics-bind-address=0.

https://github.com/operator-assay/assay/blob/main/docs/explore.md tells how to write scenarios.`

// exploreOptions are the command's flags.
type exploreOptions struct {
	operator  string
	arguments []string
	scenarios string
	crds      []string
	role      string
	plans     []string
	seed      uint64
	version   string
	artifacts string
	failOn    []string
}

func newExplore() *cobra.Command {
	o := &exploreOptions{}
	command := &cobra.Command{
		Use:   "explore --operator BINARY --scenarios FILE [-- ARGUMENT...]",
		Short: "Run an operator under faults",
		Long:  exploreHelp,
		Example: `  assay explore --operator bin/manager --scenarios scenarios.yaml -- --metrics-bind-address=0
  assay explore --operator bin/manager --scenarios scenarios.yaml -- --kubeconfig={kubeconfig}
  assay explore --operator bin/manager --scenarios scenarios.yaml --plan 'web/create crash-after create configmaps - 1'`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 && command.ArgsLenAtDash() != 0 {
				return fmt.Errorf("%q is unknown: put the operator's arguments after --", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			o.arguments = args
			return o.run(command)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.operator, "operator", "", "the operator's binary")
	flags.StringVar(&o.scenarios, "scenarios", "", "file of scenarios")
	flags.StringSliceVar(&o.crds, "crds", nil, "CRD files, or folders of them, instead of those that the scenarios name")
	flags.StringVar(&o.role, "role", "", "file of the operator's roles, instead of that which the scenarios name")
	flags.StringArrayVar(&o.plans, "plan", nil, "run this plan only, as a failure prints it; may be given several times")
	flags.Uint64Var(&o.seed, "seed", 0, "selects the plans of those faults that are not run at every place")
	flags.StringVar(&o.artifacts, "artifacts", "_artifacts/explore", "folder for the report and the results")
	flags.StringSliceVar(&o.failOn, "fail-on", []string{string(results.Lost), string(results.HotLoop), string(results.Lied)},
		fmt.Sprintf("the severities, of %v, that make the exit code 1", results.Severities))
	kubernetesVersionFlag(command, &o.version)
	return command
}

// run explores the operator. That a plan fails is an error of type findings.
func (o *exploreOptions) run(command *cobra.Command) (err error) {
	ctx := command.Context()
	operator, catalogue, plans, err := o.read()
	if err != nil {
		return err
	}
	if err := useControlPlane(command, o.version); err != nil {
		return err
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
	text := command.OutOrStdout()
	if wantsJSON(command) {
		text = command.ErrOrStderr()
	}
	explorer, err := explore.New(ctx, explore.Options{
		ControlPlane: plane,
		Identity:     identity,
		Operator:     explore.Command(operator, o.arguments...),
		Scenarios:    catalogue.Scenarios,
		Seed:         o.seed,
		Progress:     text,
	})
	if err != nil {
		return err
	}
	defer explorer.Close()
	played, err := play(ctx, explorer, plans)
	if len(played) == 0 {
		return err
	}
	exploration := explorer.Exploration(played, o.about(operator), func(plan explore.Plan) string { return o.commandLine(operator, plan) })
	if wantsJSON(command) {
		err = errors.Join(err, exploration.Encode(command.OutOrStdout()))
	}
	return errors.Join(err, o.report(text, played, exploration))
}

// read returns what the flags name, and rejects what is wrong with it before anything is started.
func (o *exploreOptions) read() (operator string, catalogue *scenarioyaml.File, plans []explore.Plan, err error) {
	fail := func(format string, args ...any) (string, *scenarioyaml.File, []explore.Plan, error) {
		return "", nil, nil, usagef(format, args...)
	}
	if o.operator == "" {
		return fail("--operator is missing: give the path of the operator's binary")
	}
	if operator, err = exec.LookPath(o.operator); err != nil {
		return fail("--operator=%s is no program: give the path of the operator's binary", o.operator)
	}
	if operator, err = filepath.Abs(operator); err != nil {
		return "", nil, nil, err
	}
	if o.scenarios == "" {
		return fail("--scenarios is missing: give a file of scenarios, such as test/fixtures/naive/scenarios.yaml")
	}
	if catalogue, err = scenarioyaml.Load(o.scenarios); err != nil {
		return fail("%w", err)
	}
	if len(o.crds) > 0 {
		catalogue.CRDs = o.crds
	}
	if o.role != "" {
		if catalogue.Role, err = os.ReadFile(o.role); err != nil {
			return fail("--role: %w", err)
		}
	}
	if len(o.plans) > 0 {
		if plans, err = explore.Parse(strings.Join(o.plans, ";"), catalogue.Scenarios); err != nil {
			return fail("--plan: %w", err)
		}
	}
	return operator, catalogue, plans, nil
}

// play runs some plans, or all, and then those that failed again.
func play(ctx context.Context, explorer *explore.Explorer, some []explore.Plan) ([]explore.Result, error) {
	if len(some) > 0 {
		return explorer.Replay(ctx, some...)
	}
	played, err := explorer.Explore(ctx, faultinject.Categories...)
	if err != nil {
		return played, err
	}
	return played, explorer.Confirm(ctx, played)
}

// about says what is explored.
func (o *exploreOptions) about(operator string) results.About {
	return results.About{Operator: filepath.Base(operator), Revision: revision(operator), Assay: version(), Source: o.scenarios}
}

// report prints the failures and the sums, and leaves both as files.
func (o *exploreOptions) report(out io.Writer, played []explore.Result, exploration results.Exploration) error {
	fmt.Fprint(out, exploration.FailureText())
	fmt.Fprint(out, explore.Table(played))
	if err := page.WriteExploration(o.artifacts, exploration); err != nil {
		return err
	}
	fmt.Fprintln(out, "report", filepath.Join(o.artifacts, page.File))
	severities, err := results.ParseSeverities(o.failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	if err := exploration.Err(severities); err != nil {
		return findings{err}
	}
	return nil
}

// commandLine runs a plan again.
func (o *exploreOptions) commandLine(operator string, plan explore.Plan) string {
	line := []string{"assay", "explore", "--operator", operator, "--scenarios", o.scenarios}
	for _, crd := range o.crds {
		line = append(line, "--crds", crd)
	}
	if o.role != "" {
		line = append(line, "--role", o.role)
	}
	line = append(line, "--plan", plan.String())
	if len(o.arguments) > 0 {
		line = append(append(line, "--"), o.arguments...)
	}
	return shellescape.QuoteCommand(line)
}
