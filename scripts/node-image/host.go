package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	// rootSpace is what the root and its tar take together, imageSpace what the engine does.
	rootSpace  = 4 << 30
	imageSpace = 2 << 30
)

func dockerAnswers(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("no docker command in PATH: install Docker")
	}
	if _, err := output(ctx, "docker", "version", "--format={{.Server.Version}}"); err != nil {
		return fmt.Errorf("no Docker engine answers: start one, or see `docker version`: %w", err)
	}
	return nil
}

// has tells whether the Docker engine has an image.
func has(ctx context.Context, image string) bool {
	_, err := output(ctx, "docker", "image", "inspect", "--format={{.Id}}", image)
	return err == nil
}

// workFolder lies beside the store of binaries, because that has to have room, and /tmp may be in memory.
func workFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to put an image together in (set HOME or XDG_CACHE_HOME): %w", err)
	}
	folder := filepath.Join(cache, "assay", "node-image")
	return folder, os.MkdirAll(folder, 0o755)
}

// lock waits for another run. The system drops a lock with the process that held it.
func lock(ctx context.Context, folder string) (unlock func(), err error) {
	held := flock.New(filepath.Join(folder, "lock"))
	locked, err := held.TryLock()
	if err == nil && !locked {
		tell("waiting for another run")
		_, err = held.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return func() { held.Close() }, nil
}

// prepare makes sure of what a host must have, which each is one line to the user.
func prepare(ctx context.Context, folder, version string) error {
	if err := mayMake(runtime.GOOS, os.Geteuid(), version); err != nil {
		return err
	}
	if err := expectSpace(folder, rootSpace); err != nil {
		return err
	}
	if data, err := output(ctx, "docker", "info", "--format={{.DockerRootDir}}"); err == nil {
		if err := expectSpace(data, imageSpace); err != nil {
			return err
		}
	}
	return installDebootstrap(ctx)
}

// mayMake says what a user may do instead who cannot make a node's image.
func mayMake(system string, user int, version string) error {
	pull := "E2E_NODE_IMAGE to an image that you can pull, such as kindest/node:" + version
	switch {
	case system != "linux":
		return fmt.Errorf("making a node's image takes Linux, and this is %s: set E2E_PROVIDER=kwok, or %s", system, pull)
	case user != 0:
		return fmt.Errorf("making a node's image takes root, once: run `sudo env PATH=\"$PATH\" K8S_VERSION=%s %s`, or set %s", version, os.Args[0], pull)
	}
	return nil
}

// expectSpace looks at a folder that this host has; an engine's may be on another.
func expectSpace(folder string, want uint64) error {
	var found syscall.Statfs_t
	if syscall.Statfs(folder, &found) != nil {
		return nil
	}
	if free := found.Bavail * uint64(found.Bsize); free < want {
		return fmt.Errorf("%s has %d MiB free and a node's image needs %d MiB there: make room", folder, free>>20, want>>20)
	}
	return nil
}

// installDebootstrap also gets the keys by which packages are verified, which only Debian has by itself.
func installDebootstrap(ctx context.Context) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("no debootstrap in PATH: install it, and debian-archive-keyring")
	}
	tell("installing debootstrap")
	install := []string{"apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "debootstrap", "debian-archive-keyring"}
	if _, err := output(ctx, install...); err == nil {
		return nil
	}
	if _, err := output(ctx, "apt-get", "update", "--quiet"); err != nil {
		return fmt.Errorf("debootstrap is not installed, and apt-get cannot update: %w", err)
	}
	if _, err := output(ctx, install...); err != nil {
		return fmt.Errorf("install debootstrap and debian-archive-keyring: %w", err)
	}
	return nil
}
