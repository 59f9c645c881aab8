package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/test/harness/report/page"
)

const reportHelp = `Write one HTML page of what test suites have left in folders, and in the folders in them: an exploration with a
timeline of each failure, suites with their tests on the wall clock, the bench with its curves. The page needs no
server and no network.

With --markdown or --rates, print a summary of their JUnit files instead. With --rates, the folders hold several runs
of the same suites, and the table has how often each test failed. With --annotations, print GitHub's workflow commands
that mark failures in files. The exit code does not depend on what became of the tests.`

// reportOptions are the command's flags.
type reportOptions struct {
	file, baseline, title             string
	opens, markdown, rates, annotates bool
}

func newReport() *cobra.Command {
	o := &reportOptions{}
	command := &cobra.Command{
		Use:   "report [FOLDER...]",
		Short: "Write a page of test results, or a summary as Markdown",
		Long:  reportHelp,
		Example: `  assay report --open                          # of _artifacts, and the folders in it
  assay report --baseline ../main/_artifacts   # new failures, fixed, slower
  assay report --markdown --title "Kubernetes v1.37.0" >>"$GITHUB_STEP_SUMMARY"
  assay report --rates _artifacts/flake/*`,
		RunE: func(command *cobra.Command, folders []string) error {
			if len(folders) == 0 {
				folders = []string{"_artifacts"}
			}
			switch {
			case o.annotates:
				return annotate(command, folders)
			case o.markdown, o.rates, wantsJSON(command):
				return o.print(command, folders)
			default:
				return o.write(command, folders)
			}
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.file, "file", "", "where to write the page; by default "+page.File+" in the first folder")
	flags.StringVar(&o.baseline, "baseline", "", "folder with the results of a previous run, to compare suites with")
	flags.BoolVar(&o.opens, "open", false, "open the page in the browser")
	flags.BoolVar(&o.markdown, "markdown", false, "print a summary as Markdown")
	flags.StringVar(&o.title, "title", "", "heading of the summary")
	flags.BoolVar(&o.rates, "rates", false, "print how often each test failed")
	flags.BoolVar(&o.annotates, "annotations", false, "print failures as annotations of files, for GitHub")
	command.AddCommand(newMerge())
	return command
}

// write writes the page and prints where it is.
func (o *reportOptions) write(command *cobra.Command, folders []string) error {
	content, err := page.ReadFolders(folders, o.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if content.IsEmpty() {
		return usagef("%s holds no results: run a suite first, or name the folder that one has left", folders[0])
	}
	file := o.file
	if file == "" {
		file = filepath.Join(folders[0], page.File)
	}
	if err := content.Write(file); err != nil {
		return err
	}
	fmt.Fprintln(command.OutOrStdout(), file)
	if o.opens {
		return openFile(file)
	}
	return nil
}

// openFile opens a file in the program that the desktop has for it.
func openFile(path string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s is not installed: open %s in a browser", program, path)
	}
	return exec.Command(program, path).Start()
}

// print prints a summary of JUnit files.
func (o *reportOptions) print(command *cobra.Command, folders []string) error {
	var all []testResult
	for _, folder := range folders {
		found, err := readJUnit(folder)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if wantsJSON(command) {
		return writeLines(command, all)
	}
	if o.title != "" {
		fmt.Fprintf(command.OutOrStdout(), "### %s\n\n", o.title)
	}
	text := summary(all)
	if o.rates {
		text = ratesOf(all).markdown(len(folders))
	}
	_, err := fmt.Fprint(command.OutOrStdout(), text)
	return err
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
