package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const imageName = "registry.example.com/assay-operator:v1.2.3"

// made makes an archive of two architectures' binaries, and returns it with the digest.
func made(t *testing.T) (archive []byte, digest string) {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	t.Setenv("REVISION", "abc")
	dir := t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		if err := os.MkdirAll(filepath.Join(dir, arch), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, arch, program), []byte("binary of "+arch), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "image.oci.tar")
	digest, err := makeArchive(dir, file, imageName)
	if err != nil {
		t.Fatal(err)
	}
	archive, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return archive, digest
}

// blobsOf are the files of an archive by their names.
func blobsOf(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	blobs := map[string][]byte{}
	entries := tar.NewReader(bytes.NewReader(archive))
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return blobs
		}
		if err != nil {
			t.Fatal(err)
		}
		if blobs[entry.Name], err = io.ReadAll(entries); err != nil {
			t.Fatal(err)
		}
	}
}

func read[T any](t *testing.T, blobs map[string][]byte, name string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(blobs[name], &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

func blob(hash v1.Hash) string { return "blobs/" + hash.Algorithm + "/" + hash.Hex }

func TestTheSameBinariesMakeTheSameImage(t *testing.T) {
	one, oneDigest := made(t)
	other, otherDigest := made(t)
	if oneDigest != otherDigest || !bytes.Equal(one, other) {
		t.Errorf("%s and %s", oneDigest, otherDigest)
	}
}

func TestTheArchiveHoldsOneNamedImageOfEachArchitecture(t *testing.T) {
	archive, digest := made(t)
	blobs := blobsOf(t, archive)
	top := read[v1.IndexManifest](t, blobs, "index.json")
	if len(top.Manifests) != 1 || top.Manifests[0].Digest.String() != digest || top.Manifests[0].Annotations["io.containerd.image.name"] != imageName {
		t.Fatalf("the archive is of %+v, not of %s", top.Manifests, digest)
	}
	var architectures []string
	for _, m := range read[v1.IndexManifest](t, blobs, blob(top.Manifests[0].Digest)).Manifests {
		manifest := read[v1.Manifest](t, blobs, blob(m.Digest))
		config := read[v1.ConfigFile](t, blobs, blob(manifest.Config.Digest))
		if config.Architecture != m.Platform.Architecture || config.OS != "linux" {
			t.Errorf("%s is for %s", m.Platform, config.Platform())
		}
		if labels := config.Config.Labels; labels["org.opencontainers.image.version"] != "v1.2.3" || labels["org.opencontainers.image.revision"] != "abc" {
			t.Errorf("the labels are %v", labels)
		}
		if config.Created.Unix() != 1700000000 || len(manifest.Layers) != 1 {
			t.Errorf("made at %s of %d layers", config.Created, len(manifest.Layers))
		}
		architectures = append(architectures, config.Architecture)
	}
	if got := strings.Join(architectures, " "); got != "amd64 arm64" {
		t.Errorf("got %s", got)
	}
}

// What is released is what the end-to-end tests have run, which the Dockerfile makes.
func TestTheImageIsTheDockerfiles(t *testing.T) {
	dockerfile, err := os.ReadFile("../../operator/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"ARG BASE_IMAGE=scratch",
		"COPY bin/" + program + " /" + program,
		"USER " + user,
		`ENTRYPOINT ["/` + program + `"]`,
	} {
		if !strings.Contains(string(dockerfile), "\n"+line+"\n") {
			t.Errorf("the Dockerfile has no line %s", line)
		}
	}
	instructions := 0
	for line := range strings.Lines(string(dockerfile)) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			instructions++
		}
	}
	if instructions != 5 {
		t.Errorf("the Dockerfile has %d instructions: the release makes its image of 5", instructions)
	}
}

func TestBadInputIsExplained(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.oci.tar")
	if _, err := makeArchive(dir, archive, imageName); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH= is no time") {
		t.Errorf("without a time: %v", err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	if _, err := makeArchive(dir, archive, imageName); err == nil || !strings.Contains(err.Error(), "no manager is in the folders of") {
		t.Errorf("without binaries: %v", err)
	}
	if _, err := makeArchive(dir, archive, "No Image"); err == nil || !strings.Contains(err.Error(), "could not parse reference") {
		t.Errorf("without a name: %v", err)
	}
}
