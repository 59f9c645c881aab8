package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/incluster"
	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/subject"
)

const exploreHelp = `Run an operator, written in any language, through scenarios against a real API server, etcd and
kube-controller-manager. explore first runs each scenario without faults to record a reference, and then once for each
plan. A plan is one fault at one point: the operator crashes before or after a write, a request fails, or a watch lags.
A plan fails if the final state differs from the reference, or if another oracle finds a bug.

In the directory of a kubebuilder or operator-sdk project, explore needs no flags: it builds the main package, installs
and starts the operator as in config/default, and derives scenarios from config/samples. The operator runs as it would
in its Pod, with the same arguments, environment variables, ServiceAccount and mounted files. assay init writes the
scenarios and settings to assay.yaml, where you can edit them. Flags override that file.

Arguments after -- replace the arguments in the Deployment. In them, {kubeconfig} stands for the path of a kubeconfig.

See also https://github.com/operator-assay/assay/blob/main/docs/explore.md.`

type exploreOptions struct {
	subjectOptions
	resultOptions
	tests   []string
	plans   []string
	named   []explore.Plan // parsed from plans
	check   bool
	seed    uint64
	pairs   uint
	shard   string
	cluster inClusterOptions
	inPod   bool // set in the Pods that --in-cluster creates
}

func newExplore() *cobra.Command { return new(exploreOptions).command() }

func (o *exploreOptions) command() *cobra.Command {
	command := &cobra.Command{
		Use:   "explore [-- ARGUMENT...]",
		Short: "Run an operator under faults",
		Long:  exploreHelp,
		Example: `  assay explore
  assay explore --main ./cmd/operator --install deploy/ --sample examples/simple.yaml
  helm template --include-crds charts/operator | assay explore --install -
  assay explore --operator bin/manager --scenarios scenarios.yaml -- --kubeconfig={kubeconfig}
  assay explore --test 'go test ./test/e2e -count=1'
  assay explore --plan 'web/create crash-after create configmaps - 1'
  assay explore --in-cluster --shards 8 --image registry.example.com/me/explore`,
		Args: onlyAfterDashes,
		RunE: func(command *cobra.Command, args []string) error {
			o.setArguments(command, args)
			o.chooseArtifacts(command)
			return o.run(command)
		},
	}
	o.subjectOptions.addFlags(command)
	flags := command.Flags()
	o.resultOptions.addFlags(flags)
	flags.StringArrayVar(&o.tests, "test", nil, "command to run as a scenario, with KUBECONFIG and NAMESPACE set; the scenario fails if the exit code is not 0; no scenarios are derived from samples; can be repeated")
	flags.StringArrayVar(&o.plans, "plan", nil, "run only this plan, which is printed with each failure; can be repeated; --artifacts is then "+defaultArtifacts+"/plan by default")
	flags.BoolVar(&o.check, "check", false, "run each scenario once without faults, and report every scenario that fails")
	flags.Uint64Var(&o.seed, "seed", 0, "seed that selects the points of faults that are not injected at every point")
	flags.UintVar(&o.pairs, "pairs", 0, "also run up to this many plans with two faults in close succession, selected by the seed")
	flags.StringVar(&o.shard, "shard", "", "run only this shard of the plans, such as 2/8; assay report merge merges the results")
	o.cluster.addFlags(flags)
	flags.BoolVar(&o.inPod, incluster.InPodFlag, false, "set in the Pods that --in-cluster creates")
	_ = flags.MarkHidden(incluster.InPodFlag) // cannot fail: the flag exists
	command.MarkFlagsMutuallyExclusive("plan", "check", "pairs")
	command.MarkFlagsMutuallyExclusive("plan", "check", "shard", "in-cluster")
	command.MarkFlagsMutuallyExclusive("in-cluster", "test")
	return command
}

// onlyAfterDashes rejects arguments before the "--". Arguments after it are passed to the operator.
func onlyAfterDashes(command *cobra.Command, args []string) error {
	if len(args) > 0 && command.ArgsLenAtDash() != 0 {
		advice := ""
		if _, err := os.Stat(args[0]); err == nil { // such as a pattern that the shell expanded
			advice = "repeat the flag for each file, or "
		}
		return fmt.Errorf("unknown argument %q: %spass the operator's arguments after --", args[0], advice)
	}
	return nil
}

// run executes the command. It returns a results.FindingsError if there are reproducible findings
// with a severity in --fail-on.
func (o *exploreOptions) run(command *cobra.Command) (err error) {
	ctx := command.Context()
	text := o.text(command)
	if err := o.parse(); err != nil {
		return err
	}
	var shard results.Shard
	if o.shard != "" {
		if shard, err = results.ParseShard(o.shard); err != nil {
			return usageError{err}
		}
	}
	if err := o.checkInCluster(); err != nil {
		return err
	}
	if o.cluster.asked {
		return o.runInCluster(command)
	}
	s, err := o.readSubject(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.inPod { // the image of a Pod already contains a control plane
		err = s.Build(ctx, text)
	} else {
		err = o.build(command, s, text)
	}
	if err != nil {
		return err
	}
	running, err := s.Start(ctx, o.seed, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	explorer := running.Explorer
	explorer.Options.Shard = shard
	explorer.Options.SoFar = o.writeSoFar(explorer, s)
	if o.check {
		return o.runCheck(ctx, running, s, text)
	}
	played, err := o.play(ctx, running)
	if err != nil && len(played)+len(explorer.WithoutFault()) == 0 {
		return s.Explain(err)
	}
	exploration := explorer.Exploration(played, about(s), o.commandLine)
	exploration.Interrupted = ctx.Err() != nil
	if o.inPod {
		return errors.Join(err, incluster.WriteResult(command.OutOrStdout(), exploration))
	}
	return errors.Join(err, o.conclude(command, exploration))
}

func (o *exploreOptions) runCheck(ctx context.Context, running *subject.Running, s *subject.Subject, text io.Writer) error {
	invented, err := running.Invent(ctx)
	if err == nil {
		err = running.Explorer.Check(ctx)
	}
	found := results.Exploration{WithoutFault: running.Explorer.WithoutFault()}
	if err != nil && ctx.Err() != nil && found.HasFailed() {
		fmt.Fprintln(text, found.Headline())
		return err
	}
	if err != nil {
		return s.Explain(err)
	}
	fmt.Fprintf(text, "%d scenarios converge without faults", len(running.Explorer.Options.Scenarios))
	if invented != nil && len(invented.Left) > 0 {
		fmt.Fprintf(text, "; left out: %d", len(invented.Left))
	}
	fmt.Fprintln(text)
	return found.Err(o.severities)
}

// readSubject reads the subject, and checks that the plans are valid and that the artifacts can be written.
func (o *exploreOptions) readSubject(ctx context.Context) (*subject.Subject, error) {
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	if o.inPod {
		options.Built = incluster.BuiltFolder
	}
	if slices.Contains(o.tests, "") {
		return nil, usagef("--test: the command is empty: pass a shell command, such as 'go test ./test/e2e'")
	}
	options.Scenarios = subject.TestScenarios(o.tests)
	if o.named, err = o.parsePlans(nil); err != nil {
		return nil, err
	}
	s, err := subject.Read(ctx, options)
	if err != nil {
		return nil, err
	}
	_, err = o.parsePlans(s.Catalogue().Scenarios) // the names of derived scenarios are not known yet
	if err == nil && !o.check && !o.inPod {
		if err = page.CheckFolder(o.artifacts); err != nil {
			err = usagef("--artifacts: %w: pass a writable directory", err)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (o *exploreOptions) parsePlans(scenarios []scenario.Scenario) ([]explore.Plan, error) {
	if len(o.plans) == 0 {
		return nil, nil
	}
	plans, err := explore.Parse(strings.Join(o.plans, ";"), scenarios)
	if err != nil {
		return nil, usagef("--plan: %w", err)
	}
	return plans, nil
}

// play runs the plans in --plan. Without that flag, it runs all plans, and then some plans with two faults if --pairs
// is set. It also confirms the failures.
func (o *exploreOptions) play(ctx context.Context, running *subject.Running) ([]explore.Result, error) {
	if len(o.plans) > 0 {
		var names []string
		for _, plan := range o.named {
			names = append(names, plan.Scenario)
		}
		if _, err := running.Invent(ctx, names...); err != nil {
			return nil, err
		}
		plans, err := o.parsePlans(running.Explorer.Options.Scenarios)
		if err != nil {
			return nil, err
		}
		return running.Explorer.Replay(ctx, plans...)
	}
	played, err := running.Explore(ctx)
	if err == nil && o.pairs > 0 {
		played, err = running.Explorer.ExplorePairs(ctx, played, int(o.pairs)) //nolint:gosec // the number of pairs is small
	}
	if err != nil {
		return played, err
	}
	return played, running.Explorer.Confirm(ctx, played)
}

func (o *exploreOptions) commandLine(plan explore.Plan) string {
	line := append([]string{"assay", "explore"}, o.flags()...)
	for _, test := range o.tests {
		line = append(line, "--test", test)
	}
	line = append(line, "--plan", plan.String())
	if o.arguments != nil {
		line = append(append(line, "--"), o.arguments...)
	}
	return shellescape.QuoteCommand(line)
}
