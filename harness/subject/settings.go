package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// SettingsFile is the default for Options.File.
const SettingsFile = "assay.yaml"

// readSettings reads the scenarios and settings from the file, and then applies the flags, which take precedence.
func (s *Subject) readSettings(context.Context) error {
	o := s.options
	s.folders = []string{filepath.Join(o.Folder, ".")}
	s.file = s.path(o.File)
	if file := s.path(SettingsFile); s.file == "" {
		if _, err := os.Stat(file); err == nil {
			s.file = file
		}
	}
	if s.file != "" {
		var err error
		if s.catalogue, err = scenarioyaml.Load(s.file); errors.Is(err, fs.ErrNotExist) && o.File != "" {
			return inputErrorf("--scenarios: %s does not exist: pass the path of a scenario file", s.file)
		}
		if err != nil {
			return InputError{err}
		}
		s.catalogue.Main = s.mainPackage(s.catalogue.Main)
		for i, companion := range s.catalogue.Companions {
			s.catalogue.Companions[i].Main = s.mainPackage(companion.Main)
		}
	}
	c := s.catalogue
	switch {
	case o.Operator != "" && o.Main != "":
		return inputErrorf("--operator and --main cannot be combined: remove one of them")
	case o.Operator != "" || o.Main != "":
		c.Operator, c.Main = s.path(o.Operator), o.Main
	case c.Operator != "" && c.Main != "":
		return inputErrorf("%s: main and operator cannot be combined: remove one of them", s.file)
	}
	c.Install, c.Manager = cmp.Or(s.path(o.Install), c.Install), cmp.Or(o.Manager, c.Manager)
	if len(o.Samples) > 0 {
		if len(c.Scenarios) > 0 || s.hasTests() {
			return inputErrorf("--sample cannot be combined with scenarios or tests: remove --sample, or the scenarios and tests")
		}
		c.Samples = s.paths(o.Samples)
	}
	if len(o.CRDs) > 0 {
		c.CRDs = s.paths(o.CRDs)
	}
	field := s.file + ": role"
	if len(o.Roles) > 0 {
		c.Role, field = s.paths(o.Roles), "--role"
	}
	for _, role := range c.Role {
		manifest, err := project.ReadRoles(role)
		if err != nil {
			return inputErrorf("%s: %w", field, err)
		}
		s.roles = append(s.roles, manifest...)
	}
	if o.Arguments != nil {
		c.Arguments = o.Arguments
	}
	c.Scenarios = append(c.Scenarios, o.Scenarios...)
	names := sets.New[string]()
	for _, of := range c.Scenarios {
		if names.Has(of.Name) {
			return inputErrorf("two scenarios have the name %s: rename the one in the file", of.Name)
		}
		names.Insert(of.Name)
	}
	return s.findPrograms()
}

func (s *Subject) findPrograms() (err error) {
	c := s.catalogue
	s.operator = &Program{mainPackage: c.Main, orElse: "pass the operator's binary with --operator", arguments: c.Arguments, env: c.Env}
	field := "--operator: "
	if s.options.Operator == "" {
		field = s.file + ": operator: "
	}
	if err := s.operator.lookUp(c.Operator, field); err != nil {
		return err
	}
	s.companions, err = companions(s.file, c.Companions)
	return err
}

// mainPackage converts a main package's path in the settings file to a path relative to the project's folder.
func (s *Subject) mainPackage(path string) string {
	below, err := filepath.Rel(s.options.Folder, filepath.FromSlash(path))
	if s.options.Folder == "" || path == "" || err != nil {
		return path
	}
	return "./" + filepath.ToSlash(below)
}

// Settings returns a settings file with the given scenarios and all settings in use, even those that come from flags or
// from the project's conventional paths.
func (s *Subject) Settings(documents []scenarioyaml.Document) ([]byte, error) {
	settings := s.catalogue.Settings
	settings.Samples = nil // the file contains the scenarios derived from them
	text, err := yaml.Marshal(struct {
		scenarioyaml.Settings
		Scenarios []scenarioyaml.Document `json:"scenarios"`
	}{settings, documents})
	return append([]byte("# Settings and scenarios of assay explore.\n"), text...), err
}

const testTimeout = 5 * time.Minute

// TestScenarios returns scenarios that each run one command. They are named test/1, test/2 and so on.
func TestScenarios(commands []string) []scenario.Scenario {
	var scenarios []scenario.Scenario
	for i, command := range commands {
		script := process.Script{Content: command, Timeout: testTimeout}
		run := func(ctx context.Context, env *scenario.Env) error { return script.Run(ctx, env.Config, env.Namespace) }
		scenarios = append(scenarios, scenario.Scenario{
			Name:  fmt.Sprintf("test/%d", i+1),
			Steps: []scenario.Step{{Name: "Test(" + command + ")", IsAction: true, Run: run}},
		})
	}
	return scenarios
}
