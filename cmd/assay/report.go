package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/report/page"
)

const reportHelp = `Write one HTML page of what test suites have left in folders, and in the folders in them: an exploration with a
timeline of each failure, suites with their tests on the wall clock, the bench with its curves. The page needs no
server and no network.

With --markdown or --rates, print a summary instead. With --rates, the folders hold several runs of the same suites,
and the table has how often each test failed. With --annotations, print GitHub's workflow commands that mark failures
in files. The exit code does not depend on what became of the tests.`

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
			return o.print(command, folders)
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

// check rejects flags of which one would be ignored.
func (o *reportOptions) check(command *cobra.Command) error {
	var outputs []string
	for _, name := range []string{"markdown", "rates", "annotations"} {
		if command.Flags().Changed(name) {
			outputs = append(outputs, "--"+name)
		}
	}
	switch {
	case len(outputs) > 1:
		return usagef("--markdown, --rates and --annotations are one output each: choose one")
	case len(outputs) == 1 && o.file != "":
		return usagef("--file is of the page: drop it, or %s", outputs[0])
	case len(outputs) == 1 && wantsJSON(command):
		return usagef("--output=json is of the page: drop it, or %s", outputs[0])
	}
	if o.baseline != "" {
		if _, err := os.ReadDir(o.baseline); err != nil {
			return usagef("--baseline: %w", err)
		}
	}
	return nil
}

// print prints the results in the form that the flags ask for, or writes the page and prints where it is.
func (o *reportOptions) print(command *cobra.Command, folders []string) error {
	if err := o.check(command); err != nil {
		return err
	}
	content, err := page.ReadFolders(folders, o.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	switch {
	case o.annotates:
		annotate(out, failuresOf(content))
	case o.rates:
		fmt.Fprint(out, ratesOf(testsOf(content)).markdown(len(folders)))
	case o.markdown:
		if o.title != "" {
			fmt.Fprintf(out, "### %s\n\n", o.title)
		}
		fmt.Fprint(out, summary(content))
	case content.IsEmpty():
		return usagef("%s holds no results: run a suite first, or name the folder that one has left", folders[0])
	default:
		file := cmp.Or(o.file, filepath.Join(folders[0], page.File))
		if err := content.Write(file); err != nil {
			return err
		}
		if err := tell(command, file, map[string]string{"report": file}); err != nil || wantsJSON(command) || !o.opens {
			return err
		}
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
