package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	file, err := os.OpenFile(subject.SettingsFile, os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return usagef("%s already exists: remove it first", subject.SettingsFile)
	case err != nil:
		return usagef("cannot create the settings: %w: make the directory writable", err)
	}
	_ = errors.Join(file.Close(), os.Remove(subject.SettingsFile)) // subject.Read would read the empty file
	if o.install == "-" {
		return usagef("--install: %s cannot refer to the standard input: write the manifests to a file and set --install to its name", subject.SettingsFile)
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	s, err := subject.Read(command.Context(), options)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(s.Catalogue().Scenarios) > 0 {
		return usagef("--scenarios: the file already contains scenarios: remove them to derive new ones from the samples")
	}
	if err := o.build(command, s, command.ErrOrStderr()); err != nil {
		return err
	}
	running, err := s.Start(command.Context(), 0, command.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	invented, err := running.Invent(command.Context())
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
	fmt.Fprintf(command.ErrOrStderr(), "wrote %d scenarios to %s\n", len(invented.Scenarios), subject.SettingsFile)
	return nil
}
