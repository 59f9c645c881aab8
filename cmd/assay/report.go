package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/results"
)

const reportHelp = `Write an HTML page about the explorations whose results are in the given directories or their subdirectories. The page
lists the events of each failure, and works without a server or network access.

With --markdown, print a summary of the JUnit files in these directories instead: a table of the suites, the failures
and the slowest tests. The exit code does not depend on the test results.`

type reportOptions struct {
	file, title     string
	opens, markdown bool
}

func newReport() *cobra.Command {
	o := &reportOptions{}
	command := &cobra.Command{
		Use:   "report [DIRECTORY...]",
		Short: "Write a page about explorations, or a Markdown summary of test results",
		Long:  reportHelp,
		Example: `  assay report --open                          # of _artifacts and its subdirectories
  assay report --markdown --title "Kubernetes v1.37.0" >>"$GITHUB_STEP_SUMMARY"`,
		RunE: func(command *cobra.Command, dirs []string) error {
			if len(dirs) == 0 {
				dirs = []string{"_artifacts"}
			}
			for _, dir := range dirs {
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					return usagef("%s does not exist: run `assay explore` or a test suite first, or pass a directory with results", dir)
				}
			}
			if o.markdown {
				return o.summarize(command, dirs)
			}
			return o.writePage(command, dirs)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.file, "file", "", "path of the page; by default, "+page.File+" in the first directory")
	flags.BoolVar(&o.opens, "open", false, "open the page in the browser")
	flags.BoolVar(&o.markdown, "markdown", false, "print a Markdown summary instead")
	flags.StringVar(&o.title, "title", "", "heading of the summary")
	command.MarkFlagsMutuallyExclusive("markdown", "file")
	command.AddCommand(newMerge())
	return command
}

func (o *reportOptions) summarize(command *cobra.Command, dirs []string) error {
	text, err := results.Markdown(o.title, dirs)
	fmt.Fprint(command.OutOrStdout(), text)
	return err
}

func (o *reportOptions) writePage(command *cobra.Command, dirs []string) error {
	explorations, err := page.ReadFolders(dirs)
	switch {
	case err != nil:
		return err
	case len(explorations) == 0:
		return usagef("%s contains no exploration: run `assay explore` first, or pass the directory of its results", dirs[0])
	}
	file := cmp.Or(o.file, filepath.Join(dirs[0], page.File))
	if err := page.Write(file, explorations...); err != nil {
		return err
	}
	fmt.Fprintln(command.OutOrStdout(), file)
	if !o.opens {
		return nil
	}
	return page.Open(file)
}

func newMerge() *cobra.Command {
	o := &resultOptions{}
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
			if err := o.parse(); err != nil {
				return err
			}
			whole, err := results.MergeFolders(folders)
			if err != nil {
				return usageError{err}
			}
			return o.conclude(command, *whole)
		},
	}
	o.addFlags(command.Flags())
	return command
}
