package main

import (
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/results"
)

func newMerge() *cobra.Command {
	var artifacts string
	var failOn failOnFlag
	command := &cobra.Command{
		Use:   "merge DIRECTORY...",
		Short: "Merge the results of an exploration's shards",
		Long: `Merge the results of an exploration's shards into one report and one exit code. Each directory contains the results
of one shard. A missing shard is an error.`,
		Example: `  assay explore --shard 1/2 --artifacts one      # on one machine
  assay explore --shard 2/2 --artifacts two      # on another
  assay report merge --artifacts _artifacts/explore one two`,
		Args: atLeastOne("pass the directory of each shard"),
		RunE: func(command *cobra.Command, folders []string) error {
			severities, err := failOn.parse()
			if err != nil {
				return err
			}
			whole, err := results.MergeFolders(folders)
			if err != nil {
				return usageError{err}
			}
			return conclude(command, *whole, artifacts, severities)
		},
	}
	command.Flags().StringVar(&artifacts, "artifacts", defaultArtifacts, "directory for the report and the results")
	failOn.add(command.Flags())
	return command
}
