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

// Paths in the image. The name of the project's folder is appended to projectFolder, because the report names the
// operator after that folder.
const (
	builtFolder        = "/operator"
	projectFolder      = "/project"
	controlPlaneFolder = "/control-plane"
	commandFile        = "/assay"
)

// buildImage builds an image with the control plane, this program, the project and the operator's programs. All files
// that are read during an exploration have the same paths in the image, relative to the working directory.
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

// projectFiles returns the files of the git repository, without those of the report. workingFolder is the path of the
// current directory in the image.
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

// programFiles returns the programs that Read has built and those that the user specified. The latter are added
// explicitly because they are often ignored by git.
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

// givenFiles returns the files that flags and settings refer to. They can be outside of the repository.
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

func inFolder(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(folder, filepath.ToSlash(name))
}

// unique merges the lists. If several files have the same path, it keeps the first one.
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

// localRepository is the repository name of images that are loaded into the nodes instead of being pushed to a
// registry.
const localRepository = "assay.local/explore"

// deliver pushes the image to a registry or loads it into the nodes. It returns the name that Pods use for the image.
func (o *exploreOptions) deliver(ctx context.Context, target *incluster.Cluster, image v1.Image, project string, progress io.Writer) (string, error) {
	if o.cluster.image != "" {
		fmt.Fprintf(progress, "pushing the image of %s to %s\n", project, o.cluster.image)
		return incluster.Push(ctx, image, o.cluster.image)
	}
	fmt.Fprintf(progress, "loading the image of %s into the nodes\n", project)
	return target.Load(ctx, image, localRepository)
}
