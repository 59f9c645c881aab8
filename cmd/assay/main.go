// Command assay tests operators by injecting faults. It also manages the control planes and clusters that such tests
// need. It can be run without a checkout: `go run github.com/operator-assay/assay/cmd/assay@latest help` lists the
// commands.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/incluster"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/subject"
)

func main() {
	klog.SetLogger(logr.Discard()) // rejected requests are expected, and libraries would log each of them
	ctrl.SetLogger(logr.Discard())
	os.Exit(run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal returns a context that is canceled by the first signal.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), process.EndingSignals()...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP) // a terminal that is closed often sends it twice
		stop()                        // a second signal kills this process; watchdogs then clean up
		fmt.Fprintln(os.Stderr, "stopping; a second signal stops immediately")
	})
	return ctx
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	root := newRoot(&started)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if !started { // the command, a flag or an argument is invalid
		err = usageError{err}
	}
	return fail(ctx, command, err)
}

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
	exitBroken   = 3 // the operator, the control plane or the cluster failed
	exitSignal   = 130
)

// usageError is returned for mistakes in the command line or in a file that it refers to.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func atLeastOne(ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, arguments []string) error {
		if len(arguments) == 0 {
			return errors.New(ask)
		}
		return nil
	}
}

func fail(ctx context.Context, command *cobra.Command, err error) int {
	out := command.ErrOrStderr()
	exited, isExit := errors.AsType[controlplane.CommandError](err)
	_, isUsage := errors.AsType[usageError](err)
	_, isInput := errors.AsType[subject.InputError](err)
	_, isProject := errors.AsType[incluster.InputError](err)
	_, isOption := errors.AsType[cluster.OptionError](err)
	_, isFindings := errors.AsType[results.FindingsError](err)
	switch {
	case ctx.Err() != nil:
		if others := otherErrors(ctx, err); len(others) > 0 {
			fmt.Fprintln(out, "error: interrupted:", strings.Join(others, "; "))
		} else {
			fmt.Fprintln(out, "error: interrupted; everything was cleaned up")
		}
		return exitSignal
	case isExit:
		if !exited.Exited() { // a signal has killed it
			fmt.Fprintln(out, "error:", err)
		}
		return exited.ExitCode()
	case isUsage, isInput, isProject, isOption:
		fmt.Fprintf(out, "error: %s\nsee `%s --help`\n", err, command.CommandPath())
		return exitUsage
	}
	fmt.Fprintln(out, "error:", strings.TrimSpace(err.Error())) // the output of a program can end with a newline
	if isFindings {
		return exitFindings
	}
	return exitBroken
}

// otherErrors returns the messages of the errors that the interrupt did not cause. It skips exit errors, because the
// interrupt also stops the running programs. It skips findings, because they are in the report.
func otherErrors(ctx context.Context, err error) (others []string) {
	if all, isJoined := err.(interface{ Unwrap() []error }); isJoined {
		for _, one := range all.Unwrap() {
			others = append(others, otherErrors(ctx, one)...)
		}
		return others
	}
	_, isExit := errors.AsType[*exec.ExitError](err)
	_, isFindings := errors.AsType[results.FindingsError](err)
	if isExit || isFindings || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return []string{strings.TrimSpace(err.Error())}
}

const rootHelp = `Assay tests Kubernetes operators.

explore runs an operator through scenarios against a real API server, injects one fault per run, and reports how the
results differ from fault-free runs. The other commands provide clusters and control planes for tests, and report test
results.

Exit codes: 0 success, 1 findings, 2 invalid usage, 3 the operator or the cluster failed, 130 interrupted.`

func newRoot(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "assay",
		Short:         "Test Kubernetes operators",
		Version:       version(),
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	plain := root.PersistentFlags().Bool("no-color", false, "disable colors and redrawn lines, like the environment variable NO_COLOR")
	root.PersistentPreRunE = func(command *cobra.Command, _ []string) error {
		if *plain {
			_ = os.Setenv("NO_COLOR", "1") // cannot fail: the name is valid
		}
		if err := checkFilled(command); err != nil {
			return err
		}
		if err := command.ValidateFlagGroups(); err != nil {
			return fmt.Errorf("%w: remove all but one of them", err)
		}
		*started = true
		return process.UseExecutableTempDir(command.ErrOrStderr())
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newExplore(), newInit(), newReport(), newCluster(), newControlPlane(), newNodeImage())
	return root
}

// flagError replaces error messages that contain names of Go functions, such as strconv.ParseInt.
func flagError(_ *cobra.Command, err error) error {
	invalid, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is {
		return err
	}
	flag := invalid.GetFlag()
	want := map[string]string{"bool": "true or false", "int": "a whole number", "uint": "a whole number from 0", "uint64": "a whole number from 0"}[flag.Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s: invalid value %q: use %s", flag.Name, invalid.GetValue(), want)
}

// checkFilled returns an error if a flag is set to an empty value, which usually comes from an unset shell variable. It
// skips --fail-on, which may be empty, and --test and --plan, which are checked elsewhere.
func checkFilled(command *cobra.Command) (err error) {
	command.Flags().Visit(func(flag *pflag.Flag) {
		if value := flag.Value.String(); (value == "" || value == "[]") && flag.Name != "fail-on" && flag.Value.Type() != "stringArray" {
			err = cmp.Or(err, fmt.Errorf("--%s: the value is empty: set it, or remove the flag", flag.Name))
		}
	})
	return err
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
