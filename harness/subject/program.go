package subject

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
)

// program is what a run starts: the operator, or what runs beside it.
type program struct {
	mainPackage string            // to build, unless there is a binary
	binary      string            // empty until it is built
	arguments   []string          // instead of the Deployment's, unless they are nil
	env         map[string]string // added to the Deployment's
	manager     *project.Manager  // nil if no manifests are known
}

// lookUp finds the binary that is given, by its path alone: a program of the PATH is not of this project. field says
// where the path is, for the error.
func (p *program) lookUp(path, field string) (err error) {
	if path == "" {
		return nil
	}
	if p.binary, err = filepath.Abs(path); err != nil {
		return err
	}
	if _, err := exec.LookPath(p.binary); err != nil {
		return inputErrorf("%s%s is no program: give the path of its binary", field, path)
	}
	return nil
}

// build builds a program without a binary to a file, unless that was made elsewhere.
func (p *program) build(ctx context.Context, folder, file string, made bool) error {
	if p.binary != "" {
		return nil
	}
	if p.binary = file; made {
		return nil
	}
	mainPackage, err := project.MainPackage(ctx, folder, p.mainPackage)
	if err != nil {
		return InputError{err}
	}
	return project.Build(ctx, folder, mainPackage, file)
}

// container is what runs in a namespace, in the Pod with this UID; empty if it has none.
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

// isBuilt tells whether a program's binary was built here, so that its path has no meaning.
func (s *Subject) isBuilt(p *program) bool { return filepath.Dir(p.binary) == s.built }

// Program is a program of the subject: the operator, or a manager that runs beside it.
type Program struct {
	// Binary is its path, and Given the path in the options or the file; empty if Read has built the program.
	Binary, Given string
}

// Programs returns the operator and what runs beside it.
func (s *Subject) Programs() []Program {
	given := []string{s.catalogue.Operator}
	for _, beside := range s.catalogue.Beside {
		given = append(given, beside.Operator)
	}
	var all []Program
	for i, p := range append([]*program{s.operator}, s.beside...) {
		all = append(all, Program{p.binary, given[i]})
	}
	return all
}
