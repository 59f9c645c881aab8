package incluster

import (
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/images"
	"github.com/operator-assay/assay/harness/subject"
)

// Paths in the image. The project is in projectFolder/NAME, where NAME is the name of its top-level folder. The report
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
	var plane []images.File
	for _, name := range controlplane.Binaries {
		plane = append(plane, images.File{Path: path.Join(controlPlaneFolder, name), Source: filepath.Join(e.ControlPlane, name)})
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []images.File{{Path: commandFile, Source: self}}
	workingFolder, project, err := e.projectFiles(ctx)
	if err != nil {
		return nil, err
	}
	programs := programFiles(e.Subject, workingFolder)
	for _, program := range slices.Concat(programs, command, plane) {
		if err := checkProgram(program.Source); err != nil {
			return nil, InputError{err}
		}
	}
	given, err := e.givenFiles(workingFolder)
	if err != nil {
		return nil, err
	}
	files := slices.Concat(given, project, programs)
	for _, file := range files {
		if strings.HasPrefix(file.Path, temporary+"/") {
			return nil, InputError{fmt.Errorf("%s is not visible in the Pods, which mount a volume at %s: move it to another directory", file.Path, temporary)}
		}
	}
	// Remove duplicates, because a file or program that the user passed may also be in the project.
	slices.SortStableFunc(files, func(a, b images.File) int { return strings.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b images.File) bool { return a.Path == b.Path })
	return images.NewImage(v1.Config{
		Entrypoint: []string{commandFile, "explore"},
		Env:        []string{"HOME=" + temporary, "KUBEBUILDER_ASSETS=" + controlPlaneFolder, "NO_COLOR=1"},
		User:       fmt.Sprintf("%d:%d", user, user),
		WorkingDir: workingFolder,
	}, gzip.BestSpeed, plane, command, files)
}

// projectFiles returns the files in the git repository, excluding the report's files. workingFolder is the path of the
// current directory inside the image.
func (e Exploration) projectFiles(ctx context.Context) (workingFolder string, files []images.File, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", nil, err
	}
	top, names, err := repositoryFiles(ctx, here)
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
			files = append(files, images.File{Path: path.Join(root, name), Source: source})
		}
	}
	below, err := filepath.Rel(top, here)
	return path.Join(root, below), files, err
}

// programFiles returns the programs that were built from the project, and the programs that the user specified. The
// user's programs are often in .gitignore, so projectFiles may not return them.
func programFiles(s *subject.Subject, workingFolder string) []images.File {
	var files []images.File
	for _, p := range s.Programs() {
		at := inFolder(workingFolder, p.Given)
		if p.Given == "" {
			at = path.Join(BuiltFolder, filepath.Base(p.Binary))
		}
		files = append(files, images.File{Path: at, Source: p.Binary})
	}
	return files
}

// givenFiles returns the files that flags and settings refer to. They can be outside of the repository.
func (e Exploration) givenFiles(workingFolder string) ([]images.File, error) {
	c := e.Subject.Catalogue()
	var files []images.File
	for _, name := range slices.Concat([]string{c.Install}, e.Files, c.Samples, c.CRDs) {
		if name == "" {
			continue
		}
		source, err := filepath.EvalSymlinks(name)
		if err != nil {
			return nil, err
		}
		below, err := images.FilesBelow(inFolder(workingFolder, name), source)
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
