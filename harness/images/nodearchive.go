package images

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

type programImage struct {
	name    string
	program string // path in the image
	file    string // path on this machine
	base    string // tar with further files that the program needs, or empty
}

// writeArchive writes images to a file in the format of `docker save`.
func writeArchive(archive string, programs []programImage) error {
	images := map[name.Tag]v1.Image{}
	for _, program := range programs {
		tag, err := name.NewTag(program.name)
		if err != nil {
			return err
		}
		if images[tag], err = program.image(); err != nil {
			return fmt.Errorf("%s: %w", program.name, err)
		}
	}
	return tarball.MultiWriteToFile(archive, images)
}

func (p programImage) image() (v1.Image, error) {
	var layers []tarball.Opener
	if p.base != "" {
		layers = append(layers, func() (io.ReadCloser, error) { return os.Open(p.base) })
	}
	layers = append(layers, func() (io.ReadCloser, error) { return ReadLayer([]File{{p.program, p.file}}), nil })
	return NewImage(v1.Config{
		Entrypoint: []string{p.program},
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}, gzip.NoCompression, layers...) // decompression would slow down the start of every cluster
}

// NewImage returns an image with the given layers. The layers are opened each time the image is read.
func NewImage(config v1.Config, compression int, layers ...tarball.Opener) (v1.Image, error) {
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"}, Config: config,
	})
	for _, open := range layers {
		if err != nil {
			return nil, err
		}
		var layer v1.Layer
		if layer, err = tarball.LayerFromOpener(open, tarball.WithCompressionLevel(compression)); err == nil {
			image, err = mutate.AppendLayers(image, layer)
		}
	}
	return image, err
}

// File is a file of an image.
type File struct {
	Path string
	// Source is the path of a regular file or symbolic link on this machine.
	Source string
}

// ReadLayer returns a tar of the given files.
func ReadLayer(files []File) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		layer := tar.NewWriter(writer)
		var err error
		for _, file := range files {
			if err = file.write(layer); err != nil {
				break
			}
		}
		writer.CloseWithError(errors.Join(err, layer.Close()))
	}()
	return reader
}

func (f File) write(layer *tar.Writer) error {
	info, err := os.Lstat(f.Source)
	if err != nil {
		return err
	}
	header := &tar.Header{Name: strings.TrimPrefix(path.Clean(f.Path), "/"), Mode: 0o644, ModTime: time.Unix(0, 0)}
	if info.Mode()&os.ModeSymlink != 0 {
		header.Typeflag = tar.TypeSymlink
		if header.Linkname, err = os.Readlink(f.Source); err != nil {
			return err
		}
		return layer.WriteHeader(header)
	}
	if info.Mode()&0o111 != 0 {
		header.Mode = 0o755
	}
	source, err := os.Open(f.Source)
	if err != nil {
		return err
	}
	defer source.Close()
	header.Size = info.Size()
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(layer, source)
	return err
}
