package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/operator-assay/assay/harness/process"
)

// checkUser returns an error that lists the alternatives if the current user cannot build a node image.
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

// installDebootstrap installs debootstrap and Debian's keys, which other distributions do not have.
func (e *Engine) installDebootstrap(ctx context.Context) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("debootstrap is not in PATH: install debootstrap and debian-archive-keyring")
	}
	e.log.Printf("installing debootstrap")
	apt := func(args ...string) error {
		command := process.Command(ctx, "apt-get", append(args, "-qq", "--yes")...)
		command.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %s", args[0], aptError(string(output), err))
		}
		return nil
	}
	// Cached lists or the other repositories may suffice, so a failed update is reported only if the installation fails.
	updated := apt("update")
	err := apt("install", "--no-install-recommends", "debootstrap", "debian-archive-keyring")
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case updated != nil:
		return fmt.Errorf("cannot install debootstrap and debian-archive-keyring: %w; %w", updated, err)
	default:
		return fmt.Errorf("cannot install debootstrap and debian-archive-keyring: %w", err)
	}
}
