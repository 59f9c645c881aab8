package images

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestProgramOf(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/coredns/coredns:v1.14.6": "coredns",
		"registry.k8s.io/etcd:3.7.0-0":            "etcd",
		"localhost:5000/kube-proxy":               "kube-proxy",
	} {
		if got := programOf(image); got != want {
			t.Errorf("%s: got %s, want %s", image, got, want)
		}
	}
}

func TestArchiveKeepsLayerOrder(t *testing.T) {
	work := t.TempDir()
	program, base := filepath.Join(work, "program"), filepath.Join(work, "base.tar")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell, err := io.ReadAll(ReadLayer([]File{{"/bin/sh", program}}))
	if err == nil {
		err = os.WriteFile(base, shell, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(work, "images.tar")
	err = writeArchive(archive, []programImage{
		{name: "registry.k8s.io/one:1", program: "/bin/one", file: program},
		{name: "localhost/two:2", program: "/bin/two", file: program, base: base},
	})
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string][]string{"registry.k8s.io/one:1": {"bin/one"}, "localhost/two:2": {"bin/sh", "bin/two"}} {
		tag, err := name.NewTag(ref)
		if err != nil {
			t.Fatal(err)
		}
		image, err := tarball.ImageFromPath(archive, &tag)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != len(want) {
			t.Fatalf("%s: got %d layers and error %v, want %d layers", ref, len(layers), err, len(want))
		}
		for i, layer := range layers {
			content, err := layer.Uncompressed()
			if err != nil {
				t.Fatal(err)
			}
			entries := tar.NewReader(content)
			header, err := entries.Next()
			if err != nil || header.Name != want[i] || header.Mode != 0o755 {
				t.Errorf("layer %d of %s: got %+v and error %v, want %s with mode 0755", i, ref, header, err, want[i])
			}
			if text, err := io.ReadAll(entries); err != nil || string(text) != "#!" {
				t.Errorf("layer %d of %s: got %q and error %v, want %q", i, ref, text, err, "#!")
			}
		}
		config, err := image.ConfigFile()
		if err != nil || config.Config.Entrypoint[0] != "/"+want[len(want)-1] {
			t.Errorf("%s: got configuration %+v and error %v, want entrypoint /%s", ref, config, err, want[len(want)-1])
		}
	}
}
