package images

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestArchiveContent(t *testing.T) {
	work := t.TempDir()
	program, tools := filepath.Join(work, "program"), filepath.Join(work, "tools")
	err := errors.Join(
		os.WriteFile(program, []byte("#!"), 0o700),
		os.MkdirAll(filepath.Join(tools, "usr/bin"), 0o755),
		os.WriteFile(filepath.Join(tools, "usr/bin/text"), []byte("a"), 0o600),
		os.Symlink("text", filepath.Join(tools, "usr/bin/sh")))
	noError(t, err)
	others, err := FilesBelow("/opt", tools)
	noError(t, err)
	archive := filepath.Join(work, "images.tar")
	err = writeArchive(archive, []programImage{
		{name: "registry.k8s.io/one:1", program: File{"/bin/one", program}},
		{name: "localhost/two:2", program: File{"/bin/two", program}, others: others},
	})
	noError(t, err)
	for ref, want := range map[string][]string{
		"registry.k8s.io/one:1": {"/bin/one", "-rwxr-xr-x bin/one #!"},
		"localhost/two:2":       {"/bin/two", "Lrw-r--r-- opt/usr/bin/sh text", "-rw-r--r-- opt/usr/bin/text a", "-rwxr-xr-x bin/two #!"},
	} {
		tag, err := name.NewTag(ref)
		noError(t, err)
		image, err := tarball.ImageFromPath(archive, &tag)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		config, err := image.ConfigFile()
		noError(t, err)
		if got := slices.Concat(config.Config.Entrypoint, entries(t, image)); !slices.Equal(got, want) {
			t.Errorf("%s: got entrypoint and files %q, want %q", ref, got, want)
		}
	}
	if _, err := FilesBelow("/none", filepath.Join(work, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: got error %v, want ErrNotExist", err)
	}
}

// entries describes the files of an image, in the order of its layers.
func entries(t *testing.T, image v1.Image) (all []string) {
	t.Helper()
	layers, err := image.Layers()
	noError(t, err)
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		noError(t, err)
		files := tar.NewReader(content)
		for header, err := files.Next(); !errors.Is(err, io.EOF); header, err = files.Next() {
			noError(t, err)
			text, err := io.ReadAll(files)
			noError(t, err)
			all = append(all, fmt.Sprintf("%s %s %s%s", header.FileInfo().Mode(), header.Name, text, header.Linkname))
			if header.Uid != 0 || header.ModTime.Unix() != 0 {
				t.Errorf("%s: got owner %d and time %s, want zero values, so that the image depends only on its content", header.Name, header.Uid, header.ModTime)
			}
		}
	}
	return all
}
