package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/operator-assay/assay/harness/process"
)

// commandStopTimeout is how long RunCommand waits for an interrupted command to exit before it kills the command.
const commandStopTimeout = 10 * time.Second

// CommandError is returned if the command fails or is killed by a signal. A command that fails prints the reason.
type CommandError struct{ *exec.ExitError }

// ExitCode returns the exit code of the command or, as in a shell, 128 plus the number of the signal that killed it.
func (e CommandError) ExitCode() int {
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return e.ExitError.ExitCode()
}

// Unwrap returns the exit error of the command.
func (e CommandError) Unwrap() error { return e.ExitError }

// RunCommand starts a control plane and runs a command with KUBECONFIG set to its kubeconfig. If both the command and
// Stop fail, RunCommand returns the command's error and writes the other one to the command's standard error.
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
	command.Env = append(process.NoProxy(os.Environ()), "KUBECONFIG="+plane.servers.kubeconfig())
	err = process.Run(command, commandStopTimeout, plane.servers.pidFile("command"))
	if exited, failed := errors.AsType[*exec.ExitError](err); failed {
		return fmt.Errorf("%s: %w", command.Args[0], CommandError{exited})
	}
	return err
}
