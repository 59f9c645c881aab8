package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/report/results"
)

func newMerge() *cobra.Command {
	var artifacts string
	var failOn failOnFlag
	command := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Make one result of the shards of an exploration",
		Long: `Make one result and one exit code of the shards of an exploration, of which each folder holds one. That a shard is
missing is an error.`,
		Example: `  assay explore --shard 1/2 --artifacts one      # on one machine
  assay explore --shard 2/2 --artifacts two      # on another
  assay report merge --artifacts _artifacts/explore one two`,
		Args: atLeastOne("name the folder of each shard's results"),
		RunE: func(command *cobra.Command, folders []string) error {
			severities, err := failOn.parse()
			if err != nil {
				return err
			}
			var shards []*results.Exploration
			for _, folder := range folders {
				if info, err := os.Stat(folder); err == nil && !info.IsDir() {
					return usagef("%s is a file: name the folder of a shard's results", folder)
				}
				shard, err := results.ReadExploration(filepath.Join(folder, results.ExplorationFile))
				if errors.Is(err, fs.ErrNotExist) {
					return usageError{err}
				}
				if err != nil {
					return err
				}
				if shard.Shard.Of == 0 {
					return usagef("%s holds a whole exploration, and no shard of one: name folders of shards", folder)
				}
				shards = append(shards, shard)
			}
			whole, err := results.Merge(shards)
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
