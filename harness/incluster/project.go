package incluster

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/subject"
)

// Paths in the image. The project is in a subfolder of projectFolder that has the project's name, because the report
// uses that name for the operator.
const (
	BuiltFolder        = "/operator" // contains the programs that were built from the project
	projectFolder      = "/project"
	controlPlaneFolder = "/control-plane"
	commandFile        = "/assay"
)

// buildImage builds an image with the control plane, this program, the project and the operator's programs. The paths
// in flags and settings are also valid in the image.
func (e Exploration) buildImage(ctx context.Context) (v1.Image, error) {
	var plane []File
	for _, name := range controlplane.Binaries {
		plane = append(plane, File{Path: path.Join(controlPlaneFolder, name), Source: filepath.Join(e.ControlPlane, name)})
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []File{{Path: commandFile, Source: self}}
	workingFolder, project, err := e.projectFiles(ctx)
	if err != nil {
		return nil, err
	}
	programs := programFiles(e.Subject, workingFolder)
	for _, program := range slices.Concat(programs, command, plane) {
		if err := CheckProgram(program.Source); err != nil {
			return nil, InputError{err}
		}
	}
	given, err := e.givenFiles(workingFolder)
	if err != nil {
		return nil, err
	}
	return NewImage(workingFolder, [][]File{plane, command, unique(project, given, programs)},
		[]string{"KUBEBUILDER_ASSETS=" + controlPlaneFolder, "NO_COLOR=1"}, []string{commandFile, "explore"})
}

// projectFiles returns the files in the git repository, excluding the report's files. workingFolder is the path of the
// current directory inside the image.
func (e Exploration) projectFiles(ctx context.Context) (workingFolder string, files []File, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", nil, err
	}
	top, names, err := RepositoryFiles(ctx, here)
	if err != nil {
		return "", nil, InputError{err}
	}
	report, err := filepath.Abs(e.Artifacts)
	if err != nil {
		return "", nil, err
	}
	root := path.Join(projectFolder, filepath.Base(top))
	for _, name := range names {
		source := filepath.Join(top, name)
		if !strings.HasPrefix(source, report+string(filepath.Separator)) {
			files = append(files, File{Path: path.Join(root, name), Source: source})
		}
	}
	below, err := filepath.Rel(top, here)
	return path.Join(root, below), files, err
}

// programFiles returns the programs that were built from the project and the programs that the user specified. git
// often ignores the user's programs, so projectFiles does not include them.
func programFiles(s *subject.Subject, workingFolder string) []File {
	var files []File
	for _, p := range s.Programs() {
		at := inFolder(workingFolder, p.Given)
		if p.Given == "" {
			at = path.Join(BuiltFolder, filepath.Base(p.Binary))
		}
		files = append(files, File{Path: at, Source: p.Binary})
	}
	return files
}

// givenFiles returns the files that flags and settings refer to. They can be outside of the repository.
func (e Exploration) givenFiles(workingFolder string) ([]File, error) {
	c := e.Subject.Catalogue()
	var files []File
	for _, name := range slices.Concat([]string{c.Install}, e.Files, c.Samples, c.CRDs) {
		if name == "" {
			continue
		}
		below, err := FilesBelow(inFolder(workingFolder, name), name)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

func inFolder(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(folder, filepath.ToSlash(name))
}

// unique merges the lists. If several files have the same path, it keeps the first one.
func unique(lists ...[]File) []File {
	var all []File
	seen := map[string]bool{}
	for _, files := range lists {
		for _, file := range files {
			if !seen[file.Path] {
				seen[file.Path] = true
				all = append(all, file)
			}
		}
	}
	return all
}
