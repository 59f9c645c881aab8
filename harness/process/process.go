// Package process runs programs and shell scripts in process groups of their own. A Ctrl-C at a terminal, which signals
// the whole foreground group, then does not reach them, so the test decides in which order they end. Whoever kills a
// group also ends the children that the program has started.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Isolate gives a command a process group of its own, which is killed as a whole when the command's context
// ends. Call it before the command starts; the command comes from exec.CommandContext.
func Isolate(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return KillGroup(command) }
}

// KillGroup kills a started command and its children by SIGKILL. It is no error when they have ended.
func KillGroup(command *exec.Cmd) error {
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Process is a running program, the leader of a process group.
type Process struct {
	command *exec.Cmd
	done    chan struct{}
}

// Start starts a command in a process group of its own. It runs until Stop or Kill, or until it exits.
func Start(command *exec.Cmd) (*Process, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{command: command, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = command.Wait() // State tells how it ended
	}()
	return p, nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// State tells how the program ended. It is nil before Done is closed.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.command.ProcessState
	default:
		return nil
	}
}

// Context returns a context that also ends when the program does, with its exit state as the cause.
func (p *Process) Context(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.done:
			cancel(errors.New(p.command.ProcessState.String()))
		case <-ctx.Done():
			cancel(nil)
		}
	}()
	return ctx
}

// Stop asks the program to end by SIGTERM and waits for it. After grace it kills the group, and returns an
// error that says so.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
	}
	if err := p.Kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s did not stop within %s and was killed", filepath.Base(p.command.Path), grace)
}

// Kill kills the program and its children by SIGKILL, and waits until the program has ended.
func (p *Process) Kill() error {
	err := KillGroup(p.command)
	<-p.done
	return err
}
