package images

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// DebianImage is an image of a server that is built from a Debian package.
type DebianImage struct {
	Ref string // the name of the image
	// Package is the Debian package, and Version is the upstream version, for example "1.22.1". The upstream version
	// does not change within a release. The Debian revision changes with every security update.
	Package, Version string
	Release          string
	// Files contains a Dockerfile that adds root.tar, and the files that installation scripts would create. These
	// scripts do not run.
	Files fs.FS
}

// code is part of the recipe of every image, because it determines the content.
//
//go:embed debian.go apt.go root.go
var code embed.FS

// BuildFromDebian builds the images that the engine does not have. It requires no privileges and does not change the
// packages of the host.
func (e *Engine) BuildFromDebian(ctx context.Context, images ...DebianImage) error {
	missing := map[string][]DebianImage{}
	for _, image := range images {
		if recipe, err := image.recipe(e.arch); err != nil {
			return err
		} else if !e.has(ctx, image.Ref, hash(recipe...)) {
			missing[image.Release] = append(missing[image.Release], image)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var building sync.WaitGroup
	for release, images := range missing {
		building.Go(func() {
			if err := e.buildRelease(ctx, release, images); err != nil {
				cancel(err) // the first error cancels the other builds
			}
		})
	}
	building.Wait()
	return context.Cause(ctx)
}

func (e *Engine) buildRelease(ctx context.Context, release string, images []DebianImage) error {
	apt, err := newApt(ctx, release, e.arch)
	if err != nil {
		return err
	}
	defer apt.remove()
	e.log.Printf("downloading the package index of Debian %s", release)
	if err := apt.update(ctx); err != nil {
		return err
	}
	for _, image := range images {
		if err := e.buildFromPackages(ctx, apt, image); err != nil {
			return fmt.Errorf("%s: %w", image.Ref, err)
		}
	}
	return nil
}

func (e *Engine) buildFromPackages(ctx context.Context, apt *apt, image DebianImage) error {
	dir, err := os.MkdirTemp("", "assay-"+image.Package+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, image.Files); err != nil {
		return err
	}
	packages, err := apt.download(ctx, image.Package, image.Version)
	if err != nil {
		return err
	}
	if err := writeRoot(ctx, filepath.Join(dir, "root.tar"), packages); err != nil {
		return err
	}
	recipe, err := image.recipe(e.arch)
	if err != nil {
		return err
	}
	return e.Build(ctx, image.Ref, dir, recipe...)
}

// recipe returns everything that determines the content of the image, except the Debian revisions.
func (i DebianImage) recipe(arch string) ([][]byte, error) {
	parts := [][]byte{fmt.Append(nil, i.Package, i.Version, i.Release, arch)}
	for _, files := range []fs.FS{code, i.Files} {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(files, name)
			parts = append(parts, []byte(name), content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}
