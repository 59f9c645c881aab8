package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/test/harness/binaries"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			if wantsJSON(command) {
				return json.NewEncoder(command.OutOrStdout()).Encode(map[string]string{
					"version": version, "go": runtime.Version(), "kubernetes": "v" + binaries.DefaultVersion, "kwok": binaries.KWOKVersion,
				})
			}
			fmt.Fprintf(command.OutOrStdout(), "assay %s, %s %s/%s\nby default Kubernetes v%s, KWOK %s\n",
				version, runtime.Version(), runtime.GOOS, runtime.GOARCH, binaries.DefaultVersion, binaries.KWOKVersion)
			return nil
		},
	}
}
