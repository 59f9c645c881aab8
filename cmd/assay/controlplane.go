package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
)

const controlPlaneHelp = `Get the binaries of a Kubernetes control plane and print the directory that contains them: etcd, kube-apiserver,
kube-controller-manager, kube-scheduler and kubectl.

The binaries come from the directory in KUBEBUILDER_ASSETS, or from a store in the user's cache directory. Missing
binaries are downloaded, or built from Go modules if the download fails. Progress is written to standard error.`

func newControlPlane() *cobra.Command {
	var version string
	var names []string
	command := &cobra.Command{
		Use:   "control-plane",
		Short: "Get the binaries of a control plane, or run a command against one",
		Long:  controlPlaneHelp,
		Example: `  export KUBEBUILDER_ASSETS=$(assay control-plane)
  assay control-plane --kubernetes-version 1.36.4 --binaries etcd,kube-apiserver
  assay control-plane run -- sh -c 'kubectl apply --server-side -f manifests.yaml'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := binaries.CheckNames(names...); err != nil {
				return usagef("--binaries: %w", err)
			}
			dir, err := ensureControlPlane(command, version, names...)
			if err == nil {
				fmt.Fprintln(command.OutOrStdout(), dir)
			}
			return err
		},
	}
	command.Flags().StringSliceVar(&names, "binaries", nil, "binaries to get; by default, all")
	kubernetesVersionFlag(command, &version)
	command.AddCommand(newControlPlaneRun(&version), newControlPlaneKeep(&version))
	return command
}

// kubernetesVersionFlag adds --kubernetes-version to a command and its subcommands.
func kubernetesVersionFlag(command *cobra.Command, version *string) {
	command.PersistentFlags().StringVar(version, "kubernetes-version", os.Getenv("K8S_VERSION"),
		"Kubernetes version (K8S_VERSION); by default, "+binaries.DefaultVersion)
}

func newControlPlaneRun(version *string) *cobra.Command {
	return &cobra.Command{
		Use:   "run -- COMMAND [ARGUMENT...]",
		Short: "Run a command against a new control plane",
		Long: `Run a command with KUBECONFIG set to its own control plane: a real API server, etcd and
kube-controller-manager, which start in seconds and stop when the command exits. kubectl is in the command's PATH. The
exit code is the command's.`,
		Example: "  assay control-plane run -- kubectl apply --server-side --dry-run=server --validate=strict -f deploy.yaml",
		Args:    atLeastOne("pass the command to run after --"),
		RunE: func(command *cobra.Command, args []string) error {
			if err := useControlPlane(command, *version, "kubectl"); err != nil {
				return err
			}
			path := os.Getenv("KUBEBUILDER_ASSETS") + string(os.PathListSeparator) + os.Getenv("PATH")
			if err := os.Setenv("PATH", path); err != nil {
				return err
			}
			if _, err := exec.LookPath(args[0]); err != nil {
				return usageError{err}
			}
			users := exec.CommandContext(command.Context(), args[0], args[1:]...)
			users.Stdin, users.Stdout, users.Stderr = os.Stdin, command.OutOrStdout(), command.ErrOrStderr()
			return controlplane.RunCommand(command.Context(), users)
		},
	}
}

func newControlPlaneKeep(version *string) *cobra.Command {
	var count int
	var untilEOF bool
	command := &cobra.Command{
		Use:   "keep",
		Short: "Keep control planes ready, so that tests start immediately",
		Long: `Keep control planes ready until Ctrl-C. A test suite that sets controlplane.Options.UseReserve takes one of them, and
keep starts the next one, so that no two runs share a control plane. If none is ready or starting, the suite starts its
own.`,
		Example: "  assay control-plane keep",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := useControlPlane(command, *version); err != nil {
				return err
			}
			ctx := command.Context()
			if untilEOF {
				var end context.CancelFunc
				ctx, end = context.WithCancel(context.WithoutCancel(ctx)) // after Ctrl-C, the test run still cleans up
				go func() {
					_, _ = io.Copy(io.Discard, command.InOrStdin())
					end()
				}()
			}
			var keeping errgroup.Group
			for range count {
				keeping.Go(func() error {
					return controlplane.Reserve(ctx, func() {
						fmt.Fprintln(command.ErrOrStderr(), "a control plane is ready for the next test run; press Ctrl-C to stop it")
					})
				})
			}
			return keeping.Wait()
		},
	}
	command.Flags().IntVar(&count, "count", 3, "number of control planes to keep ready; make test-integration uses three")
	command.Flags().BoolVar(&untilEOF, "until-eof", false, "stop at the end of standard input, instead of after Ctrl-C")
	return command
}

// ensureControlPlane installs the named binaries, or all of them if no names are given, and returns their directory.
func ensureControlPlane(command *cobra.Command, version string, names ...string) (string, error) {
	if _, err := binaries.ResolveVersion(version); err != nil {
		return "", usageError{err}
	}
	return binaries.Ensure(command.Context(), version, command.ErrOrStderr(), names...)
}

// useControlPlane sets KUBEBUILDER_ASSETS, because package controlplane looks for the binaries there.
func useControlPlane(command *cobra.Command, version string, others ...string) error {
	dir, err := ensureControlPlane(command, version, slices.Concat(controlplane.Binaries, others)...)
	if err != nil {
		return err
	}
	return os.Setenv("KUBEBUILDER_ASSETS", dir)
}
