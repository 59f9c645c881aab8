package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"
)

// image is a program on an empty base, or on what it needs.
type image struct {
	name    string
	program string // its path in the image
	from    string // its file
	base    string // a tar of what it needs, or empty
}

// writeArchive writes images to a file in the form of `docker save`, by way of files in work. Layers are not
// compressed: every cluster would pay for that when it starts.
func writeArchive(work, file string, images []image) error {
	archive, err := os.Create(file)
	if err != nil {
		return err
	}
	defer archive.Close()
	entries := tar.NewWriter(archive)
	var manifest []map[string]any
	for i, image := range images {
		layers, err := layersOf(image, filepath.Join(work, fmt.Sprintf("layer-%d.tar", i)))
		if err != nil {
			return fmt.Errorf("%s: %w", image.name, err)
		}
		var digests, names []string
		for j, layer := range layers {
			digest, err := digestOf(layer)
			if err != nil {
				return err
			}
			digests = append(digests, digest)
			names = append(names, fmt.Sprintf("%d-%d.tar", i, j))
			if err := addFile(entries, names[j], layer, 0o644); err != nil {
				return err
			}
			if err := os.Remove(layer); err != nil {
				return err
			}
		}
		config := fmt.Sprintf("%d.json", i)
		if err := addJSON(entries, config, configOf(image, digests)); err != nil {
			return err
		}
		manifest = append(manifest, map[string]any{"Config": config, "RepoTags": []string{image.name}, "Layers": names})
	}
	if err := addJSON(entries, "manifest.json", manifest); err != nil {
		return err
	}
	return errors.Join(entries.Close(), archive.Close())
}

func configOf(image image, layers []string) map[string]any {
	return map[string]any{
		"os":           "linux",
		"architecture": runtime.GOARCH,
		"config": map[string]any{
			"Entrypoint": []string{image.program},
			"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": layers},
	}
}

// layersOf returns the tars of an image's layers; that of its program is written to file.
func layersOf(image image, file string) ([]string, error) {
	layer, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer layer.Close()
	entries := tar.NewWriter(layer)
	if err := addFile(entries, path.Clean(image.program)[1:], image.from, 0o755); err != nil {
		return nil, err
	}
	if err := errors.Join(entries.Close(), layer.Close()); err != nil {
		return nil, err
	}
	if image.base == "" {
		return []string{file}, nil
	}
	return []string{image.base, file}, nil
}

func addFile(to *tar.Writer, name, file string, mode int64) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return err
	}
	// No time of day, so that the same program makes the same layer.
	if err := to.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: info.Size(), ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	return err
}

func addJSON(to *tar.Writer, name string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := to.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err = to.Write(content)
	return err
}

func digestOf(file string) (string, error) {
	content, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer content.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}
