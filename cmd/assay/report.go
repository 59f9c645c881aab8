package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

const reportHelp = `Summarize the JUnit files that test suites have left in folders, as Markdown: each scenario in each suite, with its
time, its writes, and the plans that the explorer has run on it.

With --rates, the folders hold several runs of the same suites, and the table has how often each test failed.
The exit code does not depend on what became of the tests.`

func newReport() *cobra.Command {
	var title string
	var rates bool
	command := &cobra.Command{
		Use:   "report [FOLDER...]",
		Short: "Summarize test results as Markdown",
		Long:  reportHelp,
		Example: `  assay report                                 # of _artifacts, and the folders in it
  assay report --title "Kubernetes v1.37.0" >>"$GITHUB_STEP_SUMMARY"
  assay report --rates _artifacts/flake/*`,
		RunE: func(command *cobra.Command, folders []string) error {
			if len(folders) == 0 {
				folders = []string{"_artifacts"}
			}
			var all []testResult
			for _, folder := range folders {
				results, err := readJUnit(folder)
				if err != nil {
					return err
				}
				all = append(all, results...)
			}
			if wantsJSON(command) {
				return writeLines(command, all)
			}
			if title != "" {
				fmt.Fprintf(command.OutOrStdout(), "### %s\n\n", title)
			}
			text := summary(all)
			if rates {
				text = ratesOf(all).markdown(len(folders))
			}
			_, err := fmt.Fprint(command.OutOrStdout(), text)
			return err
		},
	}
	command.Flags().StringVar(&title, "title", "", "heading")
	command.Flags().BoolVar(&rates, "rates", false, "report how often each test failed")
	return command
}

// writeLines writes a result a line.
func writeLines(command *cobra.Command, all []testResult) error {
	encoder := json.NewEncoder(command.OutOrStdout())
	for _, r := range all {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
