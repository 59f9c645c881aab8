package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operator-assay/assay/harness/incluster"
	"github.com/operator-assay/assay/harness/subject"
)

// Where the image has what it is made of. The project's folder has its own name, which is the operator's in the report.
const (
	builtFolder        = "/operator"
	projectFolder      = "/project"
	controlPlaneFolder = "/control-plane"
	commandFile        = "/assay"
)

// buildImage makes an image of the control plane, of this program, and of the project with the operator's programs: what is
// read when the operator is explored is there at the same paths, relative to the working folder.
func (o *exploreOptions) buildImage(ctx context.Context, s *subject.Subject, controlPlane string) (v1.Image, error) {
	var plane []incluster.File
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		plane = append(plane, incluster.File{Path: path.Join(controlPlaneFolder, name), Source: filepath.Join(controlPlane, name)})
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []incluster.File{{Path: commandFile, Source: self}}
	workingFolder, project, err := o.projectFiles(ctx)
	if err != nil {
		return nil, err
	}
	programs := programFiles(s, workingFolder)
	for _, program := range append(append(programs, command...), plane...) {
		if err := incluster.CheckProgram(program.Source); err != nil {
			return nil, usagef("--in-cluster: %w", err)
		}
	}
	given, err := o.givenFiles(s, workingFolder)
	if err != nil {
		return nil, err
	}
	return incluster.NewImage(workingFolder, [][]incluster.File{plane, command, unique(project, given, programs)},
		[]string{"KUBEBUILDER_ASSETS=" + controlPlaneFolder, "NO_COLOR=1"}, []string{commandFile, "explore"})
}

// projectFiles are the files of the repository without those of the report, and where the image has this folder.
func (o *exploreOptions) projectFiles(ctx context.Context) (workingFolder string, files []incluster.File, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", nil, err
	}
	top, names, err := incluster.RepositoryFiles(ctx, here)
	if err != nil {
		return "", nil, usagef("--in-cluster: %w", err)
	}
	report, err := filepath.Abs(o.artifacts)
	if err != nil {
		return "", nil, err
	}
	root := path.Join(projectFolder, filepath.Base(top))
	for _, name := range names {
		source := filepath.Join(top, name)
		if !strings.HasPrefix(source, report+string(filepath.Separator)) {
			files = append(files, incluster.File{Path: path.Join(root, name), Source: source})
		}
	}
	below, err := filepath.Rel(top, here)
	return path.Join(root, below), files, err
}

// programFiles are the programs that are built, and those that are given, which git often does not know.
func programFiles(s *subject.Subject, workingFolder string) []incluster.File {
	var files []incluster.File
	for _, p := range s.Programs() {
		at := inFolder(workingFolder, p.Given)
		if p.Given == "" {
			at = path.Join(builtFolder, filepath.Base(p.Binary))
		}
		files = append(files, incluster.File{Path: at, Source: p.Binary})
	}
	return files
}

// givenFiles are those of the paths that flags and the settings name, which may be outside of the repository.
func (o *exploreOptions) givenFiles(s *subject.Subject, workingFolder string) ([]incluster.File, error) {
	c := s.Catalogue()
	given := append([]string{c.Install, o.scenarios}, o.roles...)
	given = append(append(given, c.Samples...), c.CRDs...)
	var files []incluster.File
	for _, name := range given {
		if name == "" {
			continue
		}
		below, err := incluster.FilesBelow(inFolder(workingFolder, name), name)
		if err != nil {
			return nil, fmt.Errorf("--in-cluster: %w", err)
		}
		files = append(files, below...)
	}
	return files, nil
}

// inFolder is where a process that works in a folder finds a path.
func inFolder(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(folder, filepath.ToSlash(name))
}

// unique are all files, each path once.
func unique(lists ...[]incluster.File) []incluster.File {
	var all []incluster.File
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

// localRepository names images that are in no registry.
const localRepository = "assay.local/explore"

// deliver brings the image to where the nodes find it, and returns its name there.
func (o *exploreOptions) deliver(ctx context.Context, target *incluster.Cluster, image v1.Image, project string, progress io.Writer) (string, error) {
	if o.cluster.image != "" {
		fmt.Fprintf(progress, "pushing the image of %s to %s\n", project, o.cluster.image)
		return incluster.Push(ctx, image, o.cluster.image)
	}
	fmt.Fprintf(progress, "loading the image of %s into the nodes\n", project)
	return target.Load(ctx, image, localRepository)
}
