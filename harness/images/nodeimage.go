package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/binaries"
)

// publishedNodeImages are the images in the release notes of kind v0.33.0, by Kubernetes version.
var publishedNodeImages = map[string]string{
	"v1.37.0": "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
	"v1.36.4": "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
	"v1.35.8": "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
}

// NodeImage returns a kind node image for a Kubernetes version such as "v1.37.0". It pulls the published image, and calls
// BuildNodeImage if that fails.
func (e *Engine) NodeImage(ctx context.Context, version string) (string, error) {
	why := errors.New("kind has not published this version")
	if image, ok := publishedNodeImages[version]; ok {
		if why = e.Pull(ctx, image); why == nil {
			return image, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	e.log.Printf("building a node image, because kindest/node:%s is not available: %s", version, why)
	return e.BuildNodeImage(ctx, version)
}

// BuildNodeImage builds a kind node image and returns its name. See the package documentation for the requirements.
func (e *Engine) BuildNodeImage(ctx context.Context, version string) (string, error) {
	name, err := nodeImageName(version)
	if err != nil {
		return "", err
	}
	if _, err := e.inspect(ctx, name, "{{.Id}}"); err == nil {
		return name, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory for building a node image: %w: set HOME or XDG_CACHE_HOME", err)
	}
	folder := filepath.Join(cache, "assay", "node-image") // not in /tmp, which may be a small tmpfs
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	unlock, err := binaries.Lock(ctx, filepath.Join(folder, "lock"), "building a node image", e.log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := e.inspect(ctx, name, "{{.Id}}"); err == nil {
		return name, nil // another process has built it in the meantime
	}
	e.log.Printf("the Docker engine does not have %s", name)
	work, err := newWorkDir(folder)
	if err != nil {
		return "", err
	}
	return name, errors.Join(e.buildNode(ctx, work, version, name), os.RemoveAll(work))
}

// newWorkDir creates a directory for a build, and removes the directories of killed builds. Each build has its own
// directory, because a program of a killed build may still be running.
func newWorkDir(folder string) (string, error) {
	leftovers, _ := fs.Glob(os.DirFS(folder), "work*")
	for _, leftover := range leftovers {
		_ = os.RemoveAll(filepath.Join(folder, leftover))
	}
	return os.MkdirTemp(folder, "work-")
}
