package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestProgramIsReadFromItsImagesName(t *testing.T) {
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

func TestArchiveHoldsEachImageWithItsLayersInOrder(t *testing.T) {
	work := t.TempDir()
	program, base := filepath.Join(work, "program"), filepath.Join(work, "base.tar")
	for file, content := range map[string]string{program: "#!", base: "a tar"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	baseDigest, err := digestOf(base)
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(work, "images.tar")
	if err := writeArchive(work, archive, []image{
		{name: "one:1", program: "/bin/one", from: program},
		{name: "two:2", program: "/bin/two", from: program, base: base},
	}); err != nil {
		t.Fatal(err)
	}

	files := entries(t, archive)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 2 || manifest[0].RepoTags[0] != "one:1" || len(manifest[0].Layers) != 1 || len(manifest[1].Layers) != 2 {
		t.Fatalf("the manifest is %+v", manifest)
	}
	var config struct {
		Config struct{ Entrypoint []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(files[manifest[1].Config], &config); err != nil {
		t.Fatal(err)
	}
	if config.Config.Entrypoint[0] != "/bin/two" || config.RootFS.DiffIDs[0] != baseDigest {
		t.Errorf("the configuration is %+v", config)
	}
	if got := string(files[manifest[1].Layers[0]]); got != "a tar" {
		t.Errorf("the first layer is %q", got)
	}
	if _, err := os.Stat(base); !os.IsNotExist(err) {
		t.Error("what is in the archive lies beside it as well")
	}
}

// entries returns the files of a tar.
func entries(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	files := map[string][]byte{}
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content
	}
}
