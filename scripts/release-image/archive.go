package main

import (
	"archive/tar"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// makeArchive makes the image and writes it to a file, in the form of OCI's image layout, by which engines and
// `ctr image import` know it.
func makeArchive(binaries, file, imageName string) (digest string, err error) {
	from, err := readSource(imageName)
	if err != nil {
		return "", err
	}
	index, err := indexOf(binaries, from)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", err
	}
	names := layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          imageName,
		"org.opencontainers.image.ref.name": from.version,
	})
	if err := path.AppendIndex(index, names); err != nil {
		return "", err
	}
	if err := pack(dir, file); err != nil {
		return "", err
	}
	hash, err := index.Digest()
	return hash.String(), err
}

// pack writes a folder to a tar, without anything that differs from one run to the next.
func pack(dir, file string) error {
	archive, err := os.Create(file)
	if err != nil {
		return err
	}
	defer archive.Close()
	entries := tar.NewWriter(archive)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := entries.WriteHeader(&tar.Header{Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = entries.Write(content)
		return err
	})
	return errors.Join(err, entries.Close(), archive.Close())
}
