package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// subjectOptions are the flags that say what the operator is.
type subjectOptions struct {
	operator     string
	main         string
	install      string
	manager      string
	samples      []string
	scenarios    string
	crds         []string
	roles        []string
	arguments    []string
	hasArguments bool // an empty list may be given, too
	version      string
	built        string // the folder of what build would build, if it is built already
}

func (o *subjectOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.operator, "operator", "", "the operator's binary, instead of one that is built")
	flags.StringVar(&o.main, "main", "", "the main package to build; by default that of cmd/main.go, of main.go, or the only one")
	flags.StringVar(&o.install, "install", "", "what installs the operator: a kustomization's folder, a folder of manifests, a file, or - for standard input; by default "+project.DefaultInstall)
	flags.StringVar(&o.manager, "manager", "", "the operator's Deployment, if several are installed")
	flags.StringSliceVar(&o.samples, "sample", nil, "files of resources, or folders of them, to invent scenarios from; by default "+project.DefaultSamples)
	flags.StringVar(&o.scenarios, "scenarios", "", "file of scenarios and settings; by default "+settingsFile+" if it exists")
	flags.StringSliceVar(&o.crds, "crds", nil, "CRD files, or folders of them, instead of those that are installed")
	flags.StringSliceVar(&o.roles, "role", nil, "files of the operator's roles, instead of those that are installed")
	kubernetesVersionFlag(command, &o.version)
}

// setArguments takes the arguments after --.
func (o *subjectOptions) setArguments(command *cobra.Command, args []string) {
	o.arguments, o.hasArguments = args, command.ArgsLenAtDash() >= 0
}

// flags are those that were given, for another command line.
func (o *subjectOptions) flags() []string {
	var given []string
	add := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				given = append(given, "--"+name, value)
			}
		}
	}
	add("operator", o.operator)
	add("main", o.main)
	add("install", o.install)
	add("manager", o.manager)
	add("sample", o.samples...)
	add("scenarios", o.scenarios)
	add("crds", o.crds...)
	add("role", o.roles...)
	add("kubernetes-version", o.version)
	return given
}

// subject is the operator that is explored.
type subject struct {
	folder    string            // temporary
	built     string            // folder of the programs that are built
	watchdog  *process.Watchdog // which removes it if this process cannot
	operator  *program
	beside    []*program // which run beside it
	file      string     // of scenarios and settings; empty if there is none
	catalogue *scenarioyaml.File
	install   *project.Install // nil if no manifests are known
	manifests []unstructured.Unstructured
	samples   []project.Sample
	hasTests  bool // which are scenarios, so that none is invented
	options   *subjectOptions
}

func (s *subject) close() {
	_ = os.RemoveAll(s.folder)
	if s.watchdog != nil {
		_ = s.watchdog.Stop()
	}
}

// read finds out what the operator is and, unless there are tests, what its scenarios are. It rejects what is wrong before anything is started.
func (o *subjectOptions) read(ctx context.Context, hasTests bool) (_ *subject, err error) {
	s := &subject{catalogue: &scenarioyaml.File{}, hasTests: hasTests, options: o}
	for _, step := range []func(context.Context) error{s.readSettings, s.readInstall, s.checkCRDs, s.readSamples, s.makeFolder, s.build} {
		if err := step(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// readInstall reads the manifests, unless roles and CRDs say what the operator may do and serves, or there are none.
func (s *subject) readInstall(context.Context) (err error) {
	c := s.catalogue
	field := "--install"
	if s.options.install == "" && c.Install != "" {
		field = s.file + ": install"
	}
	source := cmp.Or(c.Install, project.FindInstall())
	if c.Install == "" && len(c.Role) > 0 && len(c.Beside) == 0 && (source == "" || len(c.CRDs) > 0) {
		return nil
	}
	if source == "" {
		return usagef("there is no %s here: run this in the folder of the operator's project, or name the manifests that install it with --install", project.DefaultInstall)
	}
	c.Install = source
	if s.manifests, err = project.Render(source); err != nil {
		return usagef("%s: %w", field, err)
	}
	var beside []string
	for _, of := range c.Beside {
		beside = append(beside, of.Deployment)
	}
	if s.install, err = project.ReadInstall(s.manifests, c.Manager, beside...); err != nil {
		return usagef("%s: %w", source, err)
	}
	s.operator.manager = s.install.Manager
	for i, manager := range s.install.Beside {
		s.beside[i].manager = manager
	}
	if len(c.Role) == 0 && len(s.install.Manager.ClusterRules)+len(s.install.Manager.NamespaceRules) == 0 {
		return usagef("%s: %s", source, s.install.Manager.NoRules())
	}
	return nil
}

// readSamples reads what scenarios are invented from, if there are none.
func (s *subject) readSamples(context.Context) error {
	c := s.catalogue
	if len(c.Scenarios) > 0 || s.hasTests {
		return nil
	}
	crds, err := s.crds()
	if err != nil {
		return err
	}
	if len(crds) == 0 && c.Install == "" && len(c.CRDs) == 0 {
		return usagef("no CRDs are named or installed, so the operator's kinds are not known: name them with --crds")
	}
	if len(crds) == 0 {
		return usagef("%s holds no CRDs, so the operator's kinds are not known: name them with --crds", cmp.Or(c.Install, strings.Join(c.CRDs, ", ")))
	}
	field := "--sample"
	if len(s.options.samples) == 0 && len(c.Samples) > 0 {
		field = s.file + ": samples"
	}
	if len(c.Samples) == 0 {
		if _, err := os.Stat(project.DefaultSamples); err != nil {
			return usagef("there is no %s here to invent scenarios from: name samples with --sample, or scenarios with --scenarios", project.DefaultSamples)
		}
		c.Samples = []string{project.DefaultSamples}
	}
	if s.samples, err = project.ReadSamples(crds, c.Samples...); err != nil {
		return usagef("%s: %w", field, err)
	}
	if len(s.samples) == 0 {
		var kinds []string
		for _, crd := range crds {
			kinds = append(kinds, crd.Spec.Names.Kind)
		}
		return usagef("%s holds no resource of the operator's kinds (%s): name samples with --sample, or scenarios with --scenarios", strings.Join(c.Samples, ", "), strings.Join(kinds, ", "))
	}
	return nil
}

// makeFolder makes the folder of everything temporary.
func (s *subject) makeFolder(context.Context) (err error) {
	if s.folder, err = os.MkdirTemp("", "assay-explore-"); err != nil {
		return usagef("there is no place for temporary files: %w: set TMPDIR to another folder", err)
	}
	s.watchdog, err = process.Watch(s.folder)
	return err
}

// build builds the programs of which no binary is given.
func (s *subject) build(ctx context.Context) error {
	s.built = cmp.Or(s.options.built, s.folder)
	made := s.options.built != ""
	if err := s.operator.build(ctx, filepath.Join(s.built, "manager"), made); err != nil {
		return err
	}
	for _, beside := range s.beside {
		name := beside.manager.Name()
		if err := beside.build(ctx, filepath.Join(s.built, "beside-"+name), made); err != nil {
			return fmt.Errorf("beside: %s: %w", name, err)
		}
	}
	return nil
}

// name is how the operator is called: a binary that was built here has a name of no meaning, so it is the folder's.
func (s *subject) name() string {
	if !s.isBuilt(s.operator) {
		return filepath.Base(s.operator.binary)
	}
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Base(folder)
}

// publicWords are the words of what the user gave, which hold no secrets: manifests, samples, CRDs.
func (s *subject) publicWords() sets.Set[string] {
	var objects []map[string]any
	for _, object := range s.manifests {
		objects = append(objects, object.Object)
	}
	for _, sample := range s.samples {
		objects = append(objects, sample.Resource.Object)
		for _, other := range sample.Others {
			objects = append(objects, other.Object)
		}
		objects = append(objects, map[string]any{"group": sample.CRD.Spec.Group, "names": sample.CRD.Spec.Names.Plural})
	}
	return explore.PublicWords(objects...)
}

// about says what is explored.
func (s *subject) about() results.About {
	source := s.options.scenarios
	if source == "" && len(s.samples) > 0 {
		source = strings.Join(s.catalogue.Samples, ", ")
	}
	return results.About{Operator: s.name(), Revision: revision(s.operator.binary), Assay: version(), Source: source}
}
