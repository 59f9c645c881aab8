package main

import (
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/images"
)

const nodeImageHelp = `Build an image of kind's nodes from Debian's packages and Go modules, for networks in which kindest/node cannot be
pulled, and print its name. Progress is written to standard error. The build needs a Docker engine, Linux, root and
debootstrap, which is installed if apt-get is available. It takes minutes, once for each version. ` + "`assay cluster up`" + ` builds it when it is needed.

Environment:
  DEBIAN_MIRROR   where Debian's packages come from; empty: the mirror that the host uses
  http_proxy      proxy for Debian's packages
  HTTPS_PROXY     proxy for downloads
  GOPROXY         Go module proxy for builds
  XDG_CACHE_HOME  where executables are stored and the image is built; empty: ~/.cache`

func newNodeImage() *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:     "node-image",
		Short:   "Build an image of kind's nodes from source",
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
			if err != nil {
				return err
			}
			return tell(command, image, map[string]string{"image": image})
		},
	}
	kubernetesVersionFlag(command, &version)
	return command
}
