// Package subject tests the operator of a project. It reads the project's folder, builds the operator, and installs its
// CRDs, roles, webhooks and configuration in control planes. Start returns an explorer for its scenarios:
//
//	operator, err := subject.Read(ctx, subject.Options{Folder: "../memcached-operator"})
//	err = operator.Build(ctx, os.Stdout)
//	running, err := operator.Start(ctx, 0, os.Stdout)
//	results, err := running.Explore(ctx)
package subject

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
	"github.com/operator-assay/assay/harness/terminal"
)

// Options override the project's conventions and its assay.yaml. The zero value selects the project in the working
// directory.
type Options struct {
	// Folder is the project's folder. Other relative paths are relative to it. Defaults to the working directory.
	Folder string
	// Operator is the path of a prebuilt operator binary. Main is the main package to build instead. Set at most one.
	Operator, Main string
	// Install is the source of the manifests; see project.Render. Manager is the name of the operator's Deployment.
	Install, Manager string
	// Samples are the files and folders containing the resources to derive scenarios from.
	Samples []string
	// File contains scenarios and settings. Defaults to assay.yaml if that file exists.
	File string
	// CRDs and Roles are files to use instead of the CRDs and roles in the manifests.
	CRDs, Roles []string
	// Arguments are the operator's arguments. They default to the arguments in File, in the Deployment or in the image.
	Arguments []string
	// Scenarios are added to those in the file. If there are any scenarios at all, none are derived from samples.
	Scenarios []scenario.Scenario
	// Built is a folder with prebuilt programs. If it is empty, Build builds the programs.
	Built string
}

// Subject is an operator that can be started.
type Subject struct {
	folders    []string // folders in which conventional paths are looked up
	temporary  temporaryFolder
	operator   *Program
	companions []*Program // programs that run alongside the operator
	file       string     // scenarios and settings; empty if there is no file
	catalogue  *scenarioyaml.File
	roles      []byte           // manifest of the roles in files; empty if the roles come from install
	install    *project.Install // nil without manifests
	crds       []*apiextensionsv1.CustomResourceDefinition
	samples    []project.Sample
	notes      []string // about the samples
	options    Options
}

type temporaryFolder struct {
	path    string
	unwatch func() error // stops the watchdog, which removes the folder if this process is killed
}

// Close removes all temporary files.
func (s *Subject) Close() {
	_ = os.RemoveAll(s.temporary.path)
	if s.temporary.unwatch != nil {
		_ = s.temporary.unwatch()
	}
}

// Read reads the project. It returns an InputError for errors in the options or in the project files.
func Read(ctx context.Context, options Options) (*Subject, error) {
	s := &Subject{catalogue: &scenarioyaml.File{}, options: options}
	for _, step := range []func(context.Context) error{s.readSettings, s.readInstall, s.readCRDs, s.readSamples, s.findMain, s.makeFolder} {
		if err := step(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// readInstall reads the manifests. They are optional if all of the following are true:
//   - Neither the options nor the settings file specify manifests or name a Deployment.
//   - The roles come from files.
//   - The CRDs come from files, or project.FindInstall returns an error.
func (s *Subject) readInstall(context.Context) (err error) {
	c := s.catalogue
	field := "--install"
	if s.options.Install == "" && c.Install != "" {
		field = s.file + ": install"
	}
	isFound := c.Install == ""
	if isFound {
		found, err := project.FindInstall(s.options.Folder)
		if len(c.Role) > 0 && len(c.Companions) == 0 && c.Manager == "" && (err != nil || len(c.CRDs) > 0) {
			return nil
		}
		if err != nil {
			return InputError{err}
		}
		if below := strings.TrimSuffix(found, string(filepath.Separator)+filepath.FromSlash(project.DefaultInstall)); below != s.folders[0] && below != found {
			s.folders = slices.Insert(s.folders, 0, below)
		}
		c.Install = found
	}
	source := c.Install
	manifests, err := project.Render(source)
	if err != nil && isFound {
		return inputErrorf("%w, or pass other manifests with --install", err)
	}
	if err != nil {
		return inputErrorf("%s: %w", field, err)
	}
	if source == "-" {
		source = "standard input"
	}
	var companions []string
	for _, of := range c.Companions {
		companions = append(companions, of.Deployment)
	}
	if s.install, err = project.ReadInstall(manifests, c.Manager, companions...); err != nil {
		return inputErrorf("%s: %w", source, err)
	}
	s.operator.manager = s.install.Manager
	for i, manager := range s.install.Companions {
		s.companions[i].manager = manager
	}
	for _, p := range s.Programs() {
		p.manager.NoteMissing(p.env)
	}
	if len(c.Role) == 0 && !s.install.Manager.HasRules() {
		return inputErrorf("%s: %s", source, s.install.Manager.NoRules())
	}
	return nil
}

func (s *Subject) findMain(context.Context) error {
	if s.options.Built != "" {
		return nil
	}
	return s.each(func(p *Program, _ string) error {
		if err := p.find(s.folders); err != nil {
			return InputError{err}
		}
		return nil
	})
}

func (s *Subject) makeFolder(context.Context) (err error) {
	if s.temporary.path, err = process.MakeTempDir("assay-explore-"); err != nil {
		return inputErrorf("cannot create temporary files: %w", err)
	}
	s.temporary.unwatch, err = process.Watch(s.temporary.path)
	return err
}

// Build builds the programs and reports progress.
func (s *Subject) Build(ctx context.Context, progress io.Writer) error {
	if s.catalogue.Install != "" {
		terminal.NewLog("install", progress).Printf("%s", s.catalogue.Install)
	}
	return s.each(func(p *Program, name string) error {
		if p.Binary == "" {
			p.Binary = filepath.Join(cmp.Or(s.options.Built, s.temporary.path), name)
			if s.options.Built == "" {
				if err := project.Build(ctx, p.folder, p.mainPackage, p.Binary, p.orElse, progress); err != nil {
					return err
				}
			}
		}
		p.useImage(s.folders)
		return nil
	})
}

// each calls a function for the operator and each companion. name is the file name of a binary that Build provides.
func (s *Subject) each(visit func(p *Program, name string) error) error {
	if err := visit(s.operator, "manager"); err != nil {
		return err
	}
	for _, companion := range s.companions {
		name := companion.manager.Name()
		if err := visit(companion, "companion-"+name); err != nil {
			return fmt.Errorf("companions: %s: %w", name, err)
		}
	}
	return nil
}

// Name returns the file name of the given binary, or the name of the project's folder if no binary is given.
func (s *Subject) Name() string {
	if s.operator.Given != "" {
		return filepath.Base(s.operator.Binary)
	}
	folder, err := filepath.Abs(s.options.Folder)
	if err != nil {
		return ""
	}
	return filepath.Base(folder)
}

// publicWords returns the words in the manifests, samples and CRD names. Reports do not redact these words.
func (s *Subject) publicWords() sets.Set[string] {
	var objects []map[string]any
	if s.install != nil {
		for _, object := range s.install.Rendered {
			objects = append(objects, object.Object)
		}
	}
	for _, sample := range s.samples {
		objects = append(objects, sample.Resource.Object)
		for _, other := range sample.Others {
			objects = append(objects, other.Object)
		}
		objects = append(objects, map[string]any{"group": sample.CRD.Spec.Group, "names": sample.CRD.Spec.Names.Plural})
	}
	return redact.PublicWords(objects...)
}

// Binary returns the path of the operator's binary.
func (s *Subject) Binary() string { return s.operator.Binary }

// Catalogue returns the scenarios and settings from the options, the settings file and the project's conventions.
func (s *Subject) Catalogue() *scenarioyaml.File { return s.catalogue }

// Source describes where the scenarios come from.
func (s *Subject) Source() string {
	if s.options.File == "" && len(s.samples) > 0 {
		return strings.Join(s.catalogue.Samples, ", ")
	}
	return s.options.File
}

func (s *Subject) hasTests() bool { return len(s.options.Scenarios) > 0 }

// path converts a path relative to the project's folder to a path relative to the working directory.
func (s *Subject) path(of string) string {
	if s.options.Folder == "" || filepath.IsAbs(of) || of == "" || of == "-" {
		return of
	}
	return filepath.Join(s.options.Folder, of)
}

func (s *Subject) paths(of []string) []string {
	var all []string
	for _, one := range of {
		all = append(all, s.path(one))
	}
	return all
}
