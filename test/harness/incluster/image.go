package incluster

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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// user runs the image's processes; the number is nobody's in particular, and not root's.
const user = 65532

// temporary is the one folder of a Pod that can be written to.
const temporary = "/tmp"

// File is a file of an image.
type File struct {
	// Path is where the image has it.
	Path string
	// Source is a regular file or a symbolic link of this machine.
	Source string
}

// NewImage builds an image of layers, which runs entrypoint in a folder. It depends on nothing but the content, so that
// what has not changed is neither pushed nor loaded again. The sources are read whenever the image is.
func NewImage(workingFolder string, layers [][]File, env, entrypoint []string) (v1.Image, error) {
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: entrypoint,
			Env:        append([]string{"HOME=" + temporary}, env...),
			User:       fmt.Sprintf("%d:%d", user, user),
			WorkingDir: workingFolder,
		},
	})
	if err != nil {
		return nil, err
	}
	for _, files := range layers {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return readLayer(files), nil }, tarball.WithCompressionLevel(gzip.BestSpeed))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	return image, nil
}

// readLayer returns a tar of files.
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

// write adds the file to a layer, without times and owners, which differ between machines.
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
