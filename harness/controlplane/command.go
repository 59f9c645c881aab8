package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/operator-assay/assay/harness/process"
)

// commandStopTimeout is how long RunCommand waits for an interrupted command to exit before it kills the command.
const commandStopTimeout = 10 * time.Second

// CommandError is returned if the command exited with an error. The command has already printed the reason.
type CommandError struct{ *exec.ExitError }

// Unwrap returns the exit error of the command.
func (e CommandError) Unwrap() error { return e.ExitError }

// RunCommand starts a control plane and runs a command with KUBECONFIG set to its kubeconfig. If both the command and
// stopping the control plane fail, RunCommand returns the command's error and writes the other one to the command's
// standard error.
func RunCommand(ctx context.Context, command *exec.Cmd) (err error) {
	plane, err := Start(ctx, Options{})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := plane.Stop(); err == nil {
			err = stopped
		} else if stopped != nil {
			fmt.Fprintln(command.Stderr, "error:", stopped)
		}
	}()
	dir, err := process.MakeTempDir("assay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := process.WriteKubeconfig(kubeconfig, plane.Config, ""); err != nil {
		return err
	}
	command.Env = append(process.NoProxy(os.Environ()), "KUBECONFIG="+kubeconfig)
	err = process.Run(command, commandStopTimeout)
	if exited, failed := errors.AsType[*exec.ExitError](err); failed {
		return CommandError{exited}
	}
	return err
}
