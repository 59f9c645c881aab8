package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// program is the operator or one of its companions.
type program struct {
	mainPackage string            // to build if there is no binary
	orElse      string            // alternative to correcting the package, if it does not build
	folder      string            // base of mainPackage
	given       string            // path in the options or the settings file; empty if the program is built
	binary      string            // empty until the program is built
	arguments   []string          // replace the arguments in the Deployment unless nil
	env         map[string]string // added to the variables in the Deployment
	manager     *project.Manager  // nil without manifests
}

// lookUp sets the path of the binary and checks that the binary is executable. It does not search PATH, because a
// program with the same name there would not be the operator. Error messages start with field.
func (p *program) lookUp(path, field string) (err error) {
	if path == "" {
		return nil
	}
	p.given = path
	if p.binary, err = filepath.Abs(path); err != nil {
		return err
	}
	const advice = "set it to the path of a binary"
	switch _, err := exec.LookPath(p.binary); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return inputErrorf("%s%s does not exist: %s", field, path, advice)
	case errors.Is(err, syscall.EISDIR):
		return inputErrorf("%s%s is a directory: %s", field, path, advice)
	default:
		return inputErrorf("%s%s is not executable: %s", field, path, advice)
	}
}

// find looks for the main package in the folders and uses the first match. It does nothing if the binary is already
// known.
func (p *program) find(ctx context.Context, folders []string) error {
	if p.binary != "" {
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

// useImage applies the environment variables of the program's image, and the image's command if the Deployment does not
// set one. isBuilt means that Build compiled the program from one of the folders.
func (p *program) useImage(folders []string, isBuilt bool) {
	if p.manager == nil {
		return
	}
	var image project.Image
	for _, folder := range folders {
		if image.File == "" {
			image = project.FindImage(folder, p.binary, isBuilt)
		}
	}
	p.manager.UseImage(image, p.arguments != nil)
}

// container returns the program's container for a namespace. podUID is the UID of its Pod, or empty if it has no Pod.
func (p *program) container(namespace string, podUID types.UID) pod.Container {
	c := pod.Container{Path: p.binary, Namespace: namespace, Kubeconfig: true}
	if p.manager != nil {
		c = p.manager.In(podUID).Container(p.binary, namespace)
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

func (s *Subject) builtFolder() string { return cmp.Or(s.options.Built, s.temporary.path) }

// isBuilt reports whether the program was built from a main package. If not, the user specified the path of a binary.
func (s *Subject) isBuilt(p *program) bool { return filepath.Dir(p.binary) == s.builtFolder() }

// Program describes one of the subject's programs: the operator, or a manager that runs alongside it.
type Program struct {
	// Binary is the path of the program. Given is the path in the options or the settings file. If the program was
	// built from a main package, Given is empty.
	Binary, Given string
}

// Programs returns the operator, followed by the programs that run alongside it.
func (s *Subject) Programs() []Program {
	var all []Program
	for _, p := range s.programs() {
		all = append(all, Program{p.binary, p.given})
	}
	return all
}

func companions(file string, named []scenarioyaml.Companion) ([]*program, error) {
	var programs []*program
	for _, of := range named {
		p := &program{mainPackage: of.Main, orElse: "set `operator` of this companion to the path of a binary", arguments: of.Arguments, env: of.Env}
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

func (s *Subject) programs() []*program { return append([]*program{s.operator}, s.companions...) }

func (s *Subject) user(p *program) string {
	if p == s.operator {
		return "operator"
	}
	return "operator:" + p.manager.Name()
}
