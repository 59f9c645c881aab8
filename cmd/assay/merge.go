package main

import (
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/report/results"
)

func newMerge() *cobra.Command {
	var artifacts string
	var failOn failOnFlag
	command := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Merge the results of the shards of an exploration",
		Long: `Make one result and one exit code of the shards of an exploration, of which each folder holds one. That a shard is
missing is an error.`,
		Example: `  assay explore --shard 1/2 --artifacts one      # on one machine
  assay explore --shard 2/2 --artifacts two      # on another
  assay report merge --artifacts _artifacts/explore one two`,
		Args: atLeastOne("name the folder of each shard"),
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
	command.Flags().StringVar(&artifacts, "artifacts", defaultArtifacts, "folder for the report and the results")
	failOn.add(command.Flags())
	return command
}
