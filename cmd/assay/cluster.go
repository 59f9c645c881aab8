package main

import (
	"fmt"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/terminal"
)

const clusterHelp = `Create a cluster for tests and keep it until it is deleted.

On kind, nodes are containers of a Docker engine. On kwok, the control plane consists of processes and nodes are
simulated: Pods become ready, but no container runs. The flags default to the environment variables that the end-to-end
tests read, so that the tests find the cluster.`

func newCluster() *cobra.Command {
	options, invalid := cluster.FromEnvironment()
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Create or delete a cluster for tests",
		Long:  clusterHelp,
		Example: `  eval "$(assay cluster up)"
  assay cluster down`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }, // without RunE, an unknown subcommand would not be an error
	}
	flags := command.PersistentFlags()
	flags.StringVar((*string)(&options.Provider), "provider", string(options.Provider),
		"kind, kwok, existing or auto (E2E_PROVIDER); auto selects kind if a local Docker engine is available, and kwok otherwise")
	flags.StringVar(&options.Name, "name", options.Name, "cluster name (E2E_CLUSTER); by default, assay")
	flags.StringVar(&options.Context, "context", options.Context, "kubeconfig context of an existing cluster (E2E_CONTEXT)")
	flags.IntVar(&options.Nodes, "nodes", options.Nodes, "number of nodes (E2E_NODES); 0 means 1 on kind and 2 on kwok")
	flags.StringVar(&options.NodeImage, "node-image", options.NodeImage,
		"node image for kind (E2E_NODE_IMAGE); by default, kindest/node, or an image built from source if kindest/node cannot be pulled")
	kubernetesVersionFlag(command, &options.KubernetesVersion)

	subcommand := func(use, short, example string, run func(*cobra.Command, cluster.Options) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Example: example, Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error {
				if invalid != nil {
					return invalid
				}
				options.Progress = command.ErrOrStderr()
				return run(command, options)
			},
		}
	}
	command.AddCommand(
		subcommand("up", "Create a cluster, or reuse a kept one, and print the shell command that selects it",
			"  eval \"$(assay cluster up --provider kwok --nodes 3)\"", clusterUp),
		subcommand("down", "Delete the cluster", "  assay cluster down",
			func(command *cobra.Command, options cluster.Options) error {
				return cluster.Delete(command.Context(), options)
			}),
	)
	return command
}

func clusterUp(command *cobra.Command, options cluster.Options) error {
	start := time.Now()
	c, err := cluster.Open(command.Context(), options)
	if err != nil {
		return err
	}
	terminal.NewLog("cluster", options.Progress).Printf("%s ready after %s (reused: %t)", c.Version, time.Since(start).Round(time.Second/10), c.Reused)
	if err := c.Close(command.Context(), true); err != nil {
		return err
	}
	fmt.Fprintln(command.OutOrStdout(), "export KUBECONFIG="+shellescape.Quote(c.Kubeconfig))
	return nil
}
