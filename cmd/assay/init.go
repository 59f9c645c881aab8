package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/subject"
)

const initHelp = `Write the settings and scenarios that assay explore would use to assay.yaml, where you can edit them. init runs the
operator once through each scenario without faults, to find out which scenarios are useful.`

func newInit() *cobra.Command {
	o := &subjectOptions{}
	command := &cobra.Command{
		Use:   "init [-- ARGUMENT...]",
		Short: "Write scenarios for an operator to " + subject.SettingsFile,
		Long:  initHelp,
		Example: `  assay init
  assay init --main ./cmd/operator --install deploy/ --sample examples/simple.yaml`,
		Args: onlyAfterDashes,
		RunE: func(command *cobra.Command, args []string) error {
			o.setArguments(command, args)
			return o.init(command)
		},
	}
	o.addFlags(command)
	return command
}

func (o *subjectOptions) init(command *cobra.Command) (err error) {
	if _, err := os.Stat(subject.SettingsFile); err == nil {
		return usagef("%s already exists: remove it first", subject.SettingsFile)
	}
	if o.install == "-" {
		return usagef("--install: %s cannot refer to the standard input: write the manifests to a file and set --install to its name", subject.SettingsFile)
	}
	ctx := command.Context()
	options, err := o.options()
	if err != nil {
		return err
	}
	s, err := subject.Read(ctx, options)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(s.Catalogue().Scenarios) > 0 {
		return usagef("--scenarios: the file already contains scenarios: remove them to derive new ones from the samples")
	}
	out := command.ErrOrStderr()
	if err := o.build(command, s, out); err != nil {
		return err
	}
	running, err := s.Start(ctx, 0, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	invented, err := running.Invent(ctx)
	if err != nil {
		return s.Explain(err)
	}
	text, err := s.Settings(invented.Documents())
	if err != nil {
		return err
	}
	if err := os.WriteFile(subject.SettingsFile, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %d scenarios to %s\n", len(invented.Scenarios), subject.SettingsFile)
	return nil
}
