package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/images"
)

const nodeImageHelp = `Build a kind node image from Debian packages and Go modules, for networks in which kindest/node cannot be pulled, and
print its name. Progress is written to standard error. The build requires a Docker engine, Linux, root and debootstrap,
which is installed if apt-get is available. Each version is built once, which takes several minutes.
` + "`assay cluster up`" + ` builds the image if necessary.

Environment:
  DEBIAN_MIRROR   Debian mirror; by default, the Debian mirror in the host's apt sources
  http_proxy      proxy for Debian packages
  HTTPS_PROXY     proxy for downloads
  GOPROXY         Go module proxy for builds
  XDG_CACHE_HOME  where executables are stored and the image is built; by default, ~/.cache`

func newNodeImage() *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:     "node-image",
		Short:   "Build a kind node image from source",
		Long:    nodeImageHelp,
		Example: `  sudo env PATH="$PATH" assay node-image --kubernetes-version 1.36.4`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			version, err := binaries.ResolveVersion(version)
			if err != nil {
				return usageError{err}
			}
			engine, err := images.Connect(command.Context(), command.ErrOrStderr())
			if err != nil {
				return err
			}
			image, err := engine.BuildNodeImage(command.Context(), version)
			if err == nil {
				fmt.Fprintln(command.OutOrStdout(), image)
			}
			return err
		},
	}
	kubernetesVersionFlag(command, &version)
	return command
}
