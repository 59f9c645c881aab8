package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The image's own, as in operator/Dockerfile, which the end-to-end tests run: a test compares them.
const (
	program = "manager"
	user    = "65532:65532"
)

// source is where and when the image's content comes from.
type source struct {
	date     time.Time
	revision string
	version  string
}

// readSource reads the environment, and the version from the image's name.
func readSource(imageName string) (source, error) {
	reference, err := name.ParseReference(imageName)
	if err != nil {
		return source{}, err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s is no time: set it to seconds since 1970, such as `git log -1 --format=%%ct` prints",
			os.Getenv("SOURCE_DATE_EPOCH"))
	}
	return source{date: time.Unix(seconds, 0).UTC(), revision: os.Getenv("REVISION"), version: reference.Identifier()}, nil
}

// indexOf makes the image of each architecture that binaries has a folder for, under one index.
func indexOf(binaries string, from source) (v1.ImageIndex, error) {
	files, err := filepath.Glob(filepath.Join(binaries, "*", program))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no %s is in the folders of %s", program, binaries)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, file := range files {
		platform := v1.Platform{OS: "linux", Architecture: filepath.Base(filepath.Dir(file))}
		image, err := imageOf(file, platform, from)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}

// imageOf puts a binary on an empty base.
func imageOf(file string, platform v1.Platform, from source) (v1.Image, error) {
	content, err := layerOf(file)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: from.date}, CreatedBy: "COPY " + program}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Created = v1.Time{Time: from.date}
	config.Config.Entrypoint = []string{"/" + program}
	config.Config.User = user
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.revision": from.revision,
		"org.opencontainers.image.version":  from.version,
	}
	return mutate.ConfigFile(image, config)
}

// layerOf is a tar of the binary alone, without a time, so that the same binary makes the same layer.
func layerOf(file string) ([]byte, error) {
	binary, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	entries := tar.NewWriter(&content)
	if err := entries.WriteHeader(&tar.Header{Name: program, Mode: 0o755, Size: int64(len(binary)), ModTime: time.Unix(0, 0)}); err != nil {
		return nil, err
	}
	if _, err := entries.Write(binary); err != nil {
		return nil, err
	}
	return content.Bytes(), entries.Close()
}
