package images

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	program File
	others  []File // that the program needs
}

// writeArchive writes images to a file in the format of `docker save`.
func writeArchive(archive string, programs []programImage) error {
	images := map[name.Tag]v1.Image{}
	for _, p := range programs {
		tag, err := name.NewTag(p.name)
		if err != nil {
			return err
		}
		config := v1.Config{
			Entrypoint: []string{p.program.Path},
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		}
		// Decompression would slow down the start of every cluster.
		if images[tag], err = NewImage(config, gzip.NoCompression, p.others, []File{p.program}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return tarball.MultiWriteToFile(archive, images)
}

// NewImage returns an image with the given layers. The files are opened each time the image is read. The image is
// reproducible, so unchanged images and layers are not pushed or loaded again.
func NewImage(config v1.Config, compression int, layers ...[]File) (v1.Image, error) {
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"}, Config: config,
	})
	for _, files := range layers {
		if err != nil {
			return nil, err
		}
		var layer v1.Layer
		open := func() (io.ReadCloser, error) { return readLayer(files), nil }
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

// FilesBelow returns the files in a source directory, or the source itself if it is a file. Their paths in the image
// start with folder.
func FilesBelow(folder, source string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(source, func(found string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() && entry.Type()&os.ModeSymlink == 0 {
			return err
		}
		relative, err := filepath.Rel(source, found)
		files = append(files, File{Path: filepath.Join(folder, relative), Source: found})
		return err
	})
	return files, err
}

// readLayer returns a tar of the given files.
func readLayer(files []File) io.ReadCloser {
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
