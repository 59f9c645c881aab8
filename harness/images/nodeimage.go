package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/binaries"
)

// publishedNodeImages are kind's, by the Kubernetes versions that the notes of kind v0.33.0's release give them for.
var publishedNodeImages = map[string]string{
	"v1.37.0": "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
	"v1.36.4": "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
	"v1.35.8": "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
}

// NodeImage returns an image of kind's nodes, of a Kubernetes version with its leading v, that the engine has: the one that
// kind has published or, where that cannot be pulled, one that BuildNodeImage builds.
func (e *Engine) NodeImage(ctx context.Context, version string) (string, error) {
	why := errors.New("kind has published none")
	if image, ok := publishedNodeImages[version]; ok {
		if why = e.Pull(ctx, image); why == nil {
			return image, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	e.log.Printf("no kindest/node:%s, so one that is built here: %s", version, why)
	return e.BuildNodeImage(ctx, version)
}

// FindNodeImage returns the image that NodeImage would return, if the engine has it already.
func (e *Engine) FindNodeImage(ctx context.Context, version string) (ref string, found bool) {
	for _, ref := range []string{publishedNodeImages[version], nodeImageName(version)} {
		if _, err := e.inspect(ctx, ref, "{{.Id}}"); ref != "" && err == nil {
			return ref, true
		}
	}
	return "", false
}

// BuildNodeImage builds an image of kind's nodes of Debian's packages and Go modules, unless the engine has it already, and
// returns its name. The package doc says what it takes, and what the image lacks.
func (e *Engine) BuildNodeImage(ctx context.Context, version string) (string, error) {
	name := nodeImageName(version)
	if _, err := e.inspect(ctx, name, "{{.Id}}"); err == nil {
		return name, nil
	}
	folder, err := nodeImageFolder()
	if err != nil {
		return "", err
	}
	unlock, err := binaries.Lock(ctx, filepath.Join(folder, "lock"), "building a node's image", e.log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := e.inspect(ctx, name, "{{.Id}}"); err == nil {
		return name, nil // another run has built it while this one waited
	}
	e.log.Printf("%s is not in the Docker engine yet", name)
	if err := removeKilled(folder); err != nil {
		return "", err
	}
	return name, e.buildNode(ctx, folder, version, name)
}

// nodeImageFolder lies beside the store of binaries, because that has to have room, and /tmp may be in memory.
func nodeImageFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to put an image together in (set HOME or XDG_CACHE_HOME): %w", err)
	}
	folder := filepath.Join(cache, "assay", "node-image")
	return folder, os.MkdirAll(folder, 0o755)
}

// removeKilled removes what runs that were killed have left. The folder is locked.
func removeKilled(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, "work-*"))
	for _, work := range left {
		err = errors.Join(err, os.RemoveAll(work))
	}
	return err
}
