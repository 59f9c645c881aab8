package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/subject"
	"github.com/operator-assay/assay/harness/verdict"
)

// defaultArtifacts is the folder for the report and the results of an exploration.
const defaultArtifacts = "_artifacts/explore"

// chooseArtifacts keeps the report of an exploration when some of its plans are run again.
func (o *exploreOptions) chooseArtifacts(command *cobra.Command) {
	if len(o.plans) > 0 && !command.Flags().Changed("artifacts") {
		o.artifacts = filepath.Join(o.artifacts, "plan")
	}
}

// writeSoFar returns what writes the page while the exploration goes on, but not in a Pod, which has none. That it cannot be
// written is told in the end.
func (o *exploreOptions) writeSoFar(explorer *explore.Explorer, s *subject.Subject) func([]explore.Result) {
	if o.inPod {
		return func([]explore.Result) {}
	}
	return func(played []explore.Result) {
		exploration := explorer.Exploration(played, about(s), o.commandLine)
		exploration.Interrupted = true
		if page.WriteExploration(o.artifacts, exploration) == nil {
			explorer.Log("report").Printf("%s: %s", filepath.Join(o.artifacts, page.File), exploration.Headline())
		}
	}
}

// conclude leaves the failures and the sums of an exploration as files, and then prints both, since who reads the output may
// have gone. That a plan failed with one of the severities is an error of type findings.
func conclude(command *cobra.Command, exploration results.Exploration, artifacts string, severities []verdict.Severity) error {
	artifacts, err := writeReport(artifacts, exploration)
	text := textOf(command)
	fmt.Fprint(text, exploration.FailureText())
	fmt.Fprint(text, exploration.Table())
	if artifacts != "" {
		fmt.Fprintln(text, "report", filepath.Join(artifacts, page.File))
	}
	if wantsJSON(command) {
		err = errors.Join(err, exploration.Encode(command.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	return failing(exploration, severities)
}

// writeReport leaves the results in a folder or, with an error, in a temporary one, so that they are not lost. It returns
// which; empty for neither.
func writeReport(folder string, exploration results.Exploration) (string, error) {
	err := page.WriteExploration(folder, exploration)
	if err == nil {
		return folder, nil
	}
	failed := fmt.Errorf("the report cannot be written: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	instead, err := os.MkdirTemp("", "assay-report-")
	if err != nil {
		return "", failed
	}
	if err := page.WriteExploration(instead, exploration); err != nil {
		_ = os.RemoveAll(instead)
		return "", failed
	}
	return instead, fmt.Errorf("%w: it is in %s instead", failed, instead)
}

// checkFolder rejects a folder in which nothing can be written, before minutes are spent on what is to be written. It makes
// none.
func checkFolder(folder string) error {
	info, err := os.Stat(folder)
	switch above := filepath.Dir(folder); {
	case errors.Is(err, fs.ErrNotExist) && above != folder:
		return checkFolder(above)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file", folder)
	}
	probe, err := os.CreateTemp(folder, ".assay-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
