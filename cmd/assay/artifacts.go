package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/subject"
	"github.com/operator-assay/assay/harness/verdict"
)

const defaultArtifacts = "_artifacts/explore"

// chooseArtifacts writes the results of --plan to a subfolder, so that they do not replace the report of a full
// exploration.
func (o *exploreOptions) chooseArtifacts(command *cobra.Command) {
	if len(o.plans) > 0 && !command.Flags().Changed("artifacts") {
		o.artifacts = filepath.Join(o.artifacts, "plan")
	}
}

// writeSoFar returns a function that updates the HTML page during the exploration. In a Pod the function does
// nothing, because the page would be lost. Errors are ignored here; conclude reports them when it writes the final
// page.
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

// writeReport writes the report to a directory, or to a temporary directory if that fails, for example because the disk
// has become full during the exploration. It returns the directory that contains the report.
func writeReport(artifacts string, exploration results.Exploration) (string, error) {
	err := page.WriteExploration(artifacts, exploration)
	if err == nil {
		return artifacts, nil
	}
	failed := fmt.Errorf("the report cannot be written: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	temporary, err := os.MkdirTemp("", "assay-report-")
	if err != nil {
		return "", failed
	}
	if page.WriteExploration(temporary, exploration) != nil {
		_ = os.RemoveAll(temporary)
		return "", failed
	}
	return temporary, fmt.Errorf("%w: it is in %s instead", failed, temporary)
}

// conclude writes the report to files and then prints the failures and the totals. The files are written first so
// that they exist even if printing fails, for example because of a closed pipe. conclude returns a
// results.FindingsError if a plan failed with one of the given severities.
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
	return exploration.Err(severities)
}

type failOnFlag []string

const failOnName = "fail-on"

func (f *failOnFlag) add(flags *pflag.FlagSet) {
	flags.StringSliceVar((*[]string)(f), failOnName, names(verdict.FailsOn),
		"severities that cause exit code 1, out of "+strings.Join(names(verdict.Severities), ", "))
}

func names(severities []verdict.Severity) []string {
	var names []string
	for _, severity := range severities {
		names = append(names, string(severity))
	}
	return names
}

func (f *failOnFlag) parse() ([]verdict.Severity, error) {
	severities, err := verdict.ParseSeverities(*f)
	if err != nil {
		return nil, usagef("--fail-on: %w: use a comma-separated list of %s", err, strings.Join(names(verdict.Severities), ", "))
	}
	return severities, nil
}
