package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/results"
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
	flags.StringVar(&o.operator, "operator", "", "path of the operator's binary; by default, the binary is built")
	flags.StringVar(&o.main, "main", "", "main package to build; by default, the package of cmd/main.go or main.go, or the only main package")
	flags.StringVar(&o.install, "install", "", "operator manifests: a kustomization, a directory, a file, or - for standard input; by default, "+project.DefaultInstall)
	flags.StringVar(&o.manager, "manager", "", "Deployment of the operator, if the manifests contain several Deployments")
	flags.StringSliceVar(&o.samples, "sample", nil, "files or directories with the resources to derive scenarios from; by default, "+project.DefaultSamples)
	flags.StringVar(&o.scenarios, "scenarios", "", "file with scenarios and settings; by default, "+subject.SettingsFile+" if it exists")
	flags.StringSliceVar(&o.crds, "crds", nil, "CRD files or directories, instead of the CRDs in the manifests")
	flags.StringSliceVar(&o.roles, "role", nil, "files with the operator's roles, instead of the roles in the manifests")
	kubernetesVersionFlag(command, &o.version)
}

func (o *subjectOptions) setArguments(command *cobra.Command, args []string) {
	if command.ArgsLenAtDash() >= 0 {
		o.arguments = append([]string{}, args...) // not nil, even if it is empty
	}
}

// flags returns the command-line flags that recreate these options.
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

// options checks the Kubernetes version, so that an invalid version is reported before the operator is built.
func (o *subjectOptions) options() (subject.Options, error) {
	if _, err := binaries.ResolveVersion(o.version); err != nil {
		return subject.Options{}, usageError{err}
	}
	return subject.Options{
		Operator: o.operator, Main: o.main, Install: o.install, Manager: o.manager, Samples: o.samples,
		File: o.scenarios, CRDs: o.crds, Roles: o.roles, Arguments: o.arguments,
	}, nil
}

// build installs the control plane first, so that an unknown Kubernetes version is reported before the build.
func (o *subjectOptions) build(command *cobra.Command, s *subject.Subject, progress io.Writer) error {
	if err := useControlPlane(command, o.version); err != nil {
		return err
	}
	return s.Build(command.Context(), progress)
}

func about(s *subject.Subject) results.About {
	return results.About{Operator: s.Name(), Revision: project.Revision(s.Binary()), Assay: version(), Source: s.Source()}
}
