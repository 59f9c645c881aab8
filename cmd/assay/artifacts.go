package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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

// chooseArtifacts gives --plan its own default directory, so that it does not overwrite a full exploration's report.
func (o *exploreOptions) chooseArtifacts(command *cobra.Command) {
	if len(o.plans) > 0 && !command.Flags().Changed("artifacts") {
		o.artifacts = filepath.Join(o.artifacts, "plan")
	}
}

// writeSoFar returns a function that updates the HTML page during the exploration. In a Pod it does nothing, because
// the page would be lost. Errors are ignored; conclude reports them when it writes the final page.
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

type resultOptions struct {
	artifacts, output string
	failOn            []string
	severities        []verdict.Severity // parsed from failOn
}

func (o *resultOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.artifacts, "artifacts", defaultArtifacts, "directory for the report and the results")
	flags.StringVarP(&o.output, "output", "o", "text", "format of the results on standard output: text or json")
	flags.StringSliceVar(&o.failOn, "fail-on", names(verdict.FailsOn), "severities that cause exit code 1, out of "+strings.Join(names(verdict.Severities), ", "))
}

func names(severities []verdict.Severity) []string {
	var names []string
	for _, severity := range severities {
		names = append(names, string(severity))
	}
	return names
}

func (o *resultOptions) parse() (err error) {
	if o.output != "text" && o.output != "json" {
		return usagef("--output: unknown format %q: use text or json", o.output)
	}
	if o.severities, err = verdict.ParseSeverities(o.failOn); err != nil {
		return usagef("--fail-on: %w: use a comma-separated list of %s", err, strings.Join(names(verdict.Severities), ", "))
	}
	return nil
}

// text returns the writer for human-readable output, which is standard error if the results are printed as JSON.
func (o *resultOptions) text(command *cobra.Command) io.Writer {
	if o.output == "json" {
		return command.ErrOrStderr()
	}
	return command.OutOrStdout()
}

// conclude writes the report and then prints the results, so that the report exists even if the output is a closed
// pipe. It returns a results.FindingsError if there are reproducible findings with a severity in --fail-on.
func (o *resultOptions) conclude(command *cobra.Command, exploration results.Exploration) error {
	err := page.WriteExploration(o.artifacts, exploration)
	text := o.text(command)
	fmt.Fprint(text, exploration.FailureText())
	fmt.Fprint(text, exploration.Table())
	if err == nil {
		fmt.Fprintln(text, "report", filepath.Join(o.artifacts, page.File))
	} else {
		err = fmt.Errorf("the report cannot be written: %s: run the command again with another --artifacts", strings.ReplaceAll(err.Error(), "\n", "; "))
		if temporary, failed := os.MkdirTemp("", "assay-report-"); failed == nil && page.WriteExploration(temporary, exploration) == nil {
			err = fmt.Errorf("%w, or use the report in %s", err, temporary)
		}
	}
	if o.output == "json" {
		err = errors.Join(err, exploration.Encode(command.OutOrStdout()))
	}
	return cmp.Or(err, exploration.Err(o.severities))
}
