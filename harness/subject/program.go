package subject

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// Program is the operator, or a manager that runs alongside it.
type Program struct {
	// Binary is the path of the program. It is empty until the program is built.
	Binary string
	// Given contains the binary's path as the user wrote it. It is empty if the program is built from a main package.
	Given string

	mainPackage string            // to build if there is no binary
	orElse      string            // alternative to correcting the package, if it does not build
	folder      string            // base of mainPackage
	arguments   []string          // replace the arguments in the Deployment unless nil
	env         map[string]string // added to the variables in the Deployment
	manager     *project.Manager  // nil without manifests
}

// lookUp sets the path of the binary and checks that the binary is executable. It does not search PATH, because a
// program with the same name there would not be the operator. Error messages start with field, such as "--operator: ".
func (p *Program) lookUp(path, field string) (err error) {
	if path == "" {
		return nil
	}
	p.Given = path
	if p.Binary, err = filepath.Abs(path); err != nil {
		return err
	}
	if _, err := exec.LookPath(p.Binary); err != nil {
		return inputErrorf("%s%s: %w: pass the path of the operator's compiled binary, or leave it out to build the operator", field, path, errors.Unwrap(err))
	}
	return nil
}

// find looks for the main package in the folders and uses the first match. It does nothing if the binary is known.
func (p *Program) find(folders []string) error {
	if p.Binary != "" {
		return nil
	}
	if p.mainPackage != "" {
		folders = folders[len(folders)-1:] // the path is relative to the folder in the options
	}
	var errs []error
	for _, p.folder = range folders {
		found, err := project.MainPackage(p.folder, p.mainPackage)
		if err == nil {
			p.mainPackage = found
			return nil
		}
		errs = append(errs, err)
	}
	return errs[0]
}

// useImage applies the environment variables and the command of the program's image. Settings in the Deployment take
// precedence, and the image's command is ignored if the user has set the arguments.
func (p *Program) useImage(folders []string) {
	if p.manager == nil {
		return
	}
	var image project.Image
	for _, folder := range folders {
		if image.File == "" {
			image = project.FindImage(folder, p.Binary, p.Given == "")
		}
	}
	p.manager.UseImage(image, p.arguments != nil)
}

// container returns the program's container for a namespace. podUID is the UID of its Pod, or empty if it has no Pod.
func (p *Program) container(namespace string, podUID types.UID) pod.Container {
	c := pod.Container{Path: p.Binary, Namespace: namespace, Kubeconfig: true}
	if p.manager != nil {
		c = p.manager.In(podUID).Container(p.Binary, namespace)
	}
	if p.arguments != nil {
		c.Arguments = p.arguments
	}
	for name, value := range p.env {
		c.Env = slices.DeleteFunc(c.Env, func(was string) bool { return strings.HasPrefix(was, name+"=") })
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}

// Programs returns the operator, followed by the programs that run alongside it.
func (s *Subject) Programs() []*Program { return append([]*Program{s.operator}, s.companions...) }

func companions(file string, named []scenarioyaml.Companion) ([]*Program, error) {
	var programs []*Program
	for _, of := range named {
		p := &Program{mainPackage: of.Main, orElse: "set `operator` of this companion to the path of a binary", arguments: of.Arguments, env: of.Env}
		if err := p.lookUp(of.Operator, fmt.Sprintf("%s: companions: %s: operator: ", file, of.Deployment)); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

func (p *environment) companionsOf(ctx context.Context, about *Subject) ([]explore.Companion, error) {
	var all []explore.Companion
	for _, program := range about.companions {
		identity, err := p.addUser(ctx, about, program)
		if err != nil {
			return nil, err
		}
		all = append(all, explore.Companion{
			Name:           program.manager.Name(),
			Identity:       identity,
			Operator:       explore.Pod(p.container(about.temporary.path, program)),
			ServesWebhooks: program.manager.ServesWebhooks,
		})
	}
	return all, nil
}

func (s *Subject) user(p *Program) string {
	if p == s.operator {
		return "operator"
	}
	return "operator-" + p.manager.Name()
}
