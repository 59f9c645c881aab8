package incluster

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"
)

func TestImageContent(t *testing.T) {
	g := NewWithT(t)
	image := newImage(t, t.TempDir(), "kind: Greeter\n")
	config, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.OS).To(Equal("linux"))
	g.Expect(config.Config.User).To(Equal("65532:65532"))
	g.Expect(config.Config.WorkingDir).To(Equal("/project/naive"))
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/assay", "explore"}))
	g.Expect(config.Config.Env).To(ConsistOf("HOME=/tmp", "KUBEBUILDER_ASSETS=/control-plane"))
	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(layers).To(HaveLen(2))
	g.Expect(entries(t, layers[0])).To(Equal(map[string]string{"assay": "-rwxr-xr-x program"}))
	g.Expect(entries(t, layers[1])).To(Equal(map[string]string{
		"project/naive/sample.yaml": "-rw-r--r-- kind: Greeter\n",
		"project/naive/link.yaml":   "Lrw-r--r-- → sample.yaml",
	}))
}

func TestImageDependsOnlyOnContent(t *testing.T) {
	g := NewWithT(t)
	id := func(content string) v1.Hash {
		id, err := newImage(t, t.TempDir(), content).ConfigName()
		g.Expect(err).NotTo(HaveOccurred())
		return id
	}
	g.Expect(id("a")).To(Equal(id("a")))
	g.Expect(id("a")).NotTo(Equal(id("b")))
}

func newImage(t *testing.T, folder, content string) v1.Image {
	t.Helper()
	g := NewWithT(t)
	in := func(name string) string { return filepath.Join(folder, name) }
	g.Expect(os.WriteFile(in("program"), []byte("program"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(in("sample.yaml"), []byte(content), 0o600)).To(Succeed())
	g.Expect(os.Symlink("sample.yaml", in("link.yaml"))).To(Succeed())
	image, err := NewImage("/project/naive", [][]File{
		{{Path: "/assay", Source: in("program")}},
		{{Path: "/project/naive/sample.yaml", Source: in("sample.yaml")}, {Path: "/project/naive/link.yaml", Source: in("link.yaml")}},
	}, []string{"KUBEBUILDER_ASSETS=/control-plane"}, []string{"/assay", "explore"})
	g.Expect(err).NotTo(HaveOccurred())
	return image
}

func entries(t *testing.T, layer v1.Layer) map[string]string {
	t.Helper()
	content, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	all := map[string]string{}
	for files := tar.NewReader(content); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = header.FileInfo().Mode().String() + " " + string(text)
		if header.Linkname != "" {
			all[header.Name] += "→ " + header.Linkname
		}
		if header.Uid != 0 || header.ModTime.Unix() != 0 {
			t.Errorf("%s: got owner %d and time %s, want zero values", header.Name, header.Uid, header.ModTime)
		}
	}
}
