package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/operator-assay/assay/harness/verdict"
)

type failOnFlag []string

func (f *failOnFlag) add(flags *pflag.FlagSet) {
	flags.StringSliceVar((*[]string)(f), "fail-on", names(verdict.FailsOn),
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
