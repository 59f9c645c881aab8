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
	rootSpace  = 4 << 30 // for the root file system and its tar
	imageSpace = 2 << 30 // for the image in the engine
)

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

// checkUser returns an error with the alternatives if this user cannot build a node image.
func checkUser(system string, user int, version string) error {
	pull := "set E2E_NODE_IMAGE to an image that you can pull, such as kindest/node:" + version
	switch {
	case system != "linux":
		return fmt.Errorf("building a node image requires Linux, and this is %s: set E2E_PROVIDER=kwok, or %s", system, pull)
	case user != 0:
		return fmt.Errorf("building a node image requires root: run `sudo env PATH=\"$PATH\" assay node-image --kubernetes-version %s` once, or %s", version, pull)
	}
	return nil
}

// checkSpace checks the free space of a directory. It ignores a directory that does not exist, because the engine may run
// on another host.
func checkSpace(folder string, want uint64) error {
	var found syscall.Statfs_t
	if syscall.Statfs(folder, &found) != nil {
		return nil
	}
	if free := found.Bavail * uint64(found.Bsize); free < want {
		return fmt.Errorf("not enough disk space in %s: %d MiB free, building a node image requires %d MiB", folder, free>>20, want>>20)
	}
	return nil
}

// installDebootstrap installs debootstrap and the keys of Debian, which other distributions do not have.
func (e *Engine) installDebootstrap(ctx context.Context) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("debootstrap is not in PATH: install debootstrap and debian-archive-keyring")
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
		return fmt.Errorf("cannot install debootstrap: %w", err)
	}
	if err := aptGet(install...); err != nil {
		return fmt.Errorf("cannot install debootstrap and debian-archive-keyring: %w", err)
	}
	return nil
}
