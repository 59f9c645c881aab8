package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/verdict"
)

type failOnFlag []string

func (f *failOnFlag) add(flags *pflag.FlagSet) {
	var usual []string
	for _, severity := range verdict.FailsOn {
		usual = append(usual, string(severity))
	}
	flags.StringSliceVar((*[]string)(f), "fail-on", usual,
		fmt.Sprintf("severities for which the exit code is 1; the severities are %v", verdict.Severities))
}

func (f *failOnFlag) parse() ([]verdict.Severity, error) {
	severities, err := verdict.ParseSeverities(*f)
	if err != nil {
		return nil, usagef("--fail-on: %w", err)
	}
	return severities, nil
}

// failing returns an error of type findings if the exploration contains a failure with one of the given severities.
func failing(exploration results.Exploration, severities []verdict.Severity) error {
	if err := exploration.Err(severities); err != nil {
		return findings{err}
	}
	return nil
}
