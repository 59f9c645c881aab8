package main

import (
	"cmp"
	"context"
	"os"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// settingsFile is read if --scenarios names no other.
const settingsFile = "assay.yaml"

// readSettings reads the file of scenarios and settings. Flags win over it.
func (s *subject) readSettings(context.Context) error {
	o := s.options
	s.file = o.scenarios
	if _, err := os.Stat(settingsFile); err == nil && s.file == "" {
		s.file = settingsFile
	}
	if s.file != "" {
		var err error
		if s.catalogue, err = scenarioyaml.Load(s.file); err != nil {
			return usageError{err}
		}
	}
	c := s.catalogue
	switch {
	case o.operator != "" && o.main != "":
		return usagef("--operator is what --main would build: drop one of them")
	case o.operator != "" || o.main != "":
		c.Operator, c.Main = o.operator, o.main
	case c.Operator != "" && c.Main != "":
		return usagef("%s: both main and operator: give one of them", s.file)
	}
	c.Install, c.Manager = cmp.Or(o.install, c.Install), cmp.Or(o.manager, c.Manager)
	if len(o.samples) > 0 {
		if len(c.Scenarios) > 0 || s.hasTests {
			return usagef("--sample: nothing is invented where there are scenarios or tests: drop it, or these")
		}
		c.Samples = o.samples
	}
	if len(o.crds) > 0 {
		c.CRDs = o.crds
	}
	if len(o.roles) > 0 {
		c.Role = nil
	}
	for _, role := range o.roles {
		manifest, err := os.ReadFile(role)
		if err != nil {
			return usagef("--role: %w", err)
		}
		c.Role = append(append(c.Role, "\n---\n"...), manifest...)
	}
	if o.hasArguments {
		c.Arguments = append([]string{}, o.arguments...) // not nil, even if there are none
	}
	return s.findPrograms()
}

// findPrograms finds the binaries that are given.
func (s *subject) findPrograms() (err error) {
	c := s.catalogue
	s.operator = &program{mainPackage: c.Main, arguments: c.Arguments, env: c.Env}
	field := "--operator="
	if s.options.operator == "" {
		field = s.file + ": operator: "
	}
	if err := s.operator.lookUp(c.Operator, field); err != nil {
		return err
	}
	s.beside, err = besides(s.file, c.Beside)
	return err
}
