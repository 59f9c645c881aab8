package images

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// programImage is a program on an empty base, or on what it needs.
type programImage struct {
	name    string
	program string // its path in the image
	file    string // its path here
	base    string // a tar of what it needs, or empty
}

// writeArchive writes images to a file in the form of `docker save`, by way of files in work.
func writeArchive(work, archive string, programs []programImage) error {
	images := map[name.Tag]v1.Image{}
	for i, program := range programs {
		tag, err := name.NewTag(program.name)
		if err != nil {
			return err
		}
		layer := filepath.Join(work, fmt.Sprintf("layer-%d.tar", i))
		defer os.Remove(layer)
		if images[tag], err = program.image(layer); err != nil {
			return fmt.Errorf("%s: %w", program.name, err)
		}
	}
	return tarball.MultiWriteToFile(archive, images)
}

// image makes an image. The layer of its program is written to a file.
func (p programImage) image(file string) (v1.Image, error) {
	if err := writeLayer(file, p.program, p.file); err != nil {
		return nil, err
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{p.program},
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
	})
	for _, file := range []string{p.base, file} {
		if file == "" || err != nil {
			continue
		}
		// Not compressed: every cluster would pay for that when it starts.
		var layer v1.Layer
		if layer, err = tarball.LayerFromFile(file, tarball.WithCompressionLevel(gzip.NoCompression)); err == nil {
			image, err = mutate.AppendLayers(image, layer)
		}
	}
	return image, err
}

// writeLayer writes a tar of one executable. It has no time of day, so that the same program makes the same layer.
func writeLayer(file, program, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	layer, err := os.Create(file)
	if err != nil {
		return err
	}
	entries := tar.NewWriter(layer)
	err = entries.WriteHeader(&tar.Header{Name: path.Clean(program)[1:], Mode: 0o755, Size: info.Size(), ModTime: time.Unix(0, 0)})
	if err == nil {
		_, err = io.Copy(entries, source)
	}
	return errors.Join(err, entries.Close(), layer.Close())
}
