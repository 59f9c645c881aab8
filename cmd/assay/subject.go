package main

import (
	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/subject"
)

type subjectOptions struct {
	operator  string
	main      string
	install   string
	manager   string
	samples   []string
	scenarios string
	crds      []string
	roles     []string
	arguments []string // nil if there is no --
	version   string
}

func (o *subjectOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.operator, "operator", "", "the operator's binary, instead of one that is built")
	flags.StringVar(&o.main, "main", "", "the main package to build; by default that of cmd/main.go, of main.go, or the only one")
	flags.StringVar(&o.install, "install", "", "what installs the operator: a kustomization's folder, a folder of manifests, a file, or - for standard input; by default "+project.DefaultInstall)
	flags.StringVar(&o.manager, "manager", "", "the operator's Deployment, if several are installed")
	flags.StringSliceVar(&o.samples, "sample", nil, "files of resources, or folders of them, to invent scenarios from; by default "+project.DefaultSamples)
	flags.StringVar(&o.scenarios, "scenarios", "", "file of scenarios and settings; by default "+subject.SettingsFile+" if it exists")
	flags.StringSliceVar(&o.crds, "crds", nil, "CRD files, or folders of them, instead of those that are installed")
	flags.StringSliceVar(&o.roles, "role", nil, "files of the operator's roles, instead of those that are installed")
	kubernetesVersionFlag(command, &o.version)
}

func (o *subjectOptions) setArguments(command *cobra.Command, args []string) {
	if command.ArgsLenAtDash() >= 0 {
		o.arguments = append([]string{}, args...) // not nil, even if it is empty
	}
}

// flags returns the flags that were set, for use in another command line.
func (o *subjectOptions) flags() []string {
	var given []string
	for _, flag := range []struct {
		name   string
		values []string
	}{
		{"operator", []string{o.operator}}, {"main", []string{o.main}}, {"install", []string{o.install}}, {"manager", []string{o.manager}},
		{"sample", o.samples}, {"scenarios", []string{o.scenarios}}, {"crds", o.crds}, {"role", o.roles}, {"kubernetes-version", []string{o.version}},
	} {
		for _, value := range flag.values {
			if value != "" {
				given = append(given, "--"+flag.name, value)
			}
		}
	}
	return given
}

// options returns the options for reading the subject. It checks the flags that apply later, so that a mistake in them
// is found before the operator is built.
func (o *subjectOptions) options() (subject.Options, error) {
	if _, err := binaries.ResolveVersion(o.version); err != nil {
		return subject.Options{}, usageError{err}
	}
	return subject.Options{
		Operator: o.operator, Main: o.main, Install: o.install, Manager: o.manager, Samples: o.samples,
		File: o.scenarios, CRDs: o.crds, Roles: o.roles, Arguments: o.arguments,
	}, nil
}

func about(s *subject.Subject) results.About {
	return results.About{Operator: s.Name(), Revision: project.Revision(s.Binary()), Assay: version(), Source: s.Source()}
}
