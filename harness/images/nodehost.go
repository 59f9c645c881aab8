package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/operator-assay/assay/harness/process"
)

const (
	// rootSpace is what the root and its tar take together, imageSpace what the engine does.
	rootSpace  = 4 << 30
	imageSpace = 2 << 30
)

// checkHost makes sure of what a host must have to build a node's image, each of which is one line to the user.
func (e *Engine) checkHost(ctx context.Context, folder, version string) error {
	if err := checkUser(runtime.GOOS, os.Geteuid(), version); err != nil {
		return err
	}
	if err := checkSpace(folder, rootSpace); err != nil {
		return err
	}
	if data, err := e.Run(ctx, "info", "--format={{.DockerRootDir}}"); err == nil {
		if err := checkSpace(data, imageSpace); err != nil {
			return err
		}
	}
	return e.installDebootstrap(ctx)
}

// checkUser says what a user may do instead who cannot build a node's image.
func checkUser(system string, user int, version string) error {
	pull := "E2E_NODE_IMAGE to an image that you can pull, such as kindest/node:" + version
	switch {
	case system != "linux":
		return fmt.Errorf("building a node's image takes Linux, and this is %s: set E2E_PROVIDER=kwok, or %s", system, pull)
	case user != 0:
		return fmt.Errorf("building a node's image takes root, once: run `sudo env PATH=\"$PATH\" assay node-image --kubernetes-version %s`, or set %s", version, pull)
	}
	return nil
}

// checkSpace looks at a folder that this host has; an engine's may be on another.
func checkSpace(folder string, want uint64) error {
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
func (e *Engine) installDebootstrap(ctx context.Context) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("no debootstrap in PATH: install it, and debian-archive-keyring")
	}
	e.log.Printf("installing debootstrap")
	aptGet := func(args ...string) error {
		command := process.Command(ctx, "apt-get", args...)
		command.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
		_, err := process.Output(command)
		return err
	}
	install := []string{"install", "--yes", "--quiet", "--no-install-recommends", "debootstrap", "debian-archive-keyring"}
	if aptGet(install...) == nil {
		return nil
	}
	if err := aptGet("update", "--quiet"); err != nil {
		return fmt.Errorf("debootstrap is not installed, and apt-get cannot update: %w", err)
	}
	if err := aptGet(install...); err != nil {
		return fmt.Errorf("install debootstrap and debian-archive-keyring: %w", err)
	}
	return nil
}
