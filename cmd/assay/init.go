package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

const initHelp = `Write the settings and the scenarios that assay explore would use to assay.yaml, to be edited and kept with the
project. The operator is run once through each scenario, without a fault, to learn which are worth keeping.`

func newInit() *cobra.Command {
	o := &subjectOptions{}
	command := &cobra.Command{
		Use:   "init [-- ARGUMENT...]",
		Short: "Write scenarios for an operator to " + settingsFile,
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

// init writes the file, which must not exist yet.
func (o *subjectOptions) init(command *cobra.Command) (err error) {
	if _, err := os.Stat(settingsFile); err == nil {
		return usagef("%s exists: remove it first", settingsFile)
	}
	ctx := command.Context()
	s, err := o.read(ctx, false)
	if err != nil {
		return err
	}
	defer s.close()
	if len(s.catalogue.Scenarios) > 0 {
		return usagef("--scenarios: there are scenarios already, so there is nothing to invent")
	}
	out := command.ErrOrStderr()
	stage, err := s.start(command, out, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.close()) }()
	invented, err := stage.invent(ctx, s, func(scenario.Scenario) error { return nil })
	if err != nil {
		return s.explain(err)
	}
	documents := invented.Documents()
	text, err := s.write(documents)
	if err != nil {
		return err
	}
	if err := os.WriteFile(settingsFile, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %d scenarios to %s\n", len(documents), settingsFile)
	return nil
}

// write returns the file's text, with the settings that flags gave or conventions found.
func (s *subject) write(documents []scenarioyaml.Document) ([]byte, error) {
	settings := s.catalogue.Settings
	settings.Samples = nil // the scenarios take their place
	text, err := yaml.Marshal(struct {
		scenarioyaml.Settings
		CRDs      []string                `json:"crds,omitempty"`
		Role      []string                `json:"role,omitempty"`
		Scenarios []scenarioyaml.Document `json:"scenarios"`
	}{settings, s.options.crds, s.options.roles, documents})
	return append([]byte("# yaml-language-server: $schema="+scenarioyaml.SchemaURL+"\n# Settings and scenarios of assay explore.\n"), text...), err
}
