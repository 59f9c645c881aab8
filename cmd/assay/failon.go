package main

import (
	"fmt"

	"github.com/spf13/pflag"

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
