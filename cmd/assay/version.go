package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/binaries"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			text := fmt.Sprintf("assay %s, %s %s/%s\nby default Kubernetes v%s, KWOK %s",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, binaries.DefaultVersion, binaries.KWOKVersion)
			return tell(command, text, map[string]string{
				"version": version(), "go": runtime.Version(), "kubernetes": "v" + binaries.DefaultVersion, "kwok": binaries.KWOKVersion,
			})
		},
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
