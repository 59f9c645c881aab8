// Package process runs programs and shell scripts in their own process groups. Ctrl-C in a terminal sends a signal to
// the foreground process group, so it does not affect these programs, and the test controls the order in which they
// exit. Killing a process group also kills the program's children.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
)

// EndingSignals returns the signals that end this process. It omits SIGHUP if it is ignored, as under nohup, because
// signal.Notify would enable it again.
func EndingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Isolate makes a command run in its own process group, which is killed when the command's context is done. Call it
// before the command is started, on a command created with exec.CommandContext.
func Isolate(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return KillGroup(command) }
}

// KillGroup kills a started command and its children with SIGKILL. It returns no error if they have already exited.
func KillGroup(command *exec.Cmd) error {
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Run runs a command that was created with exec.CommandContext. When its context is done, Run sends SIGTERM to the
// command and its children, and kills them after the grace period. When the command has exited, Run kills the remaining
// children. If the standard input is a terminal, the command stays in the group of this process, because a background
// process group cannot read from a terminal. Run then only interrupts the command and leaves its children. Run writes
// the command's PID to a file, which a watchdog reads. The PID is negative if it stands for a process group.
func Run(command *exec.Cmd, grace time.Duration, pidFile string) error {
	command.WaitDelay = grace
	if input, isFile := command.Stdin.(*os.File); isFile && term.IsTerminal(int(input.Fd())) {
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
		if err := command.Start(); err != nil {
			return err
		}
		unwatched := writePID(pidFile, command.Process.Pid)
		return cmp.Or(command.Wait(), unwatched)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) } // a background job of a shell ignores SIGINT
	if err := command.Start(); err != nil {
		return err
	}
	unwatched := writePID(pidFile, -command.Process.Pid)
	return cmp.Or(command.Wait(), KillGroup(command), unwatched)
}

func writePID(path string, pid int) error { return os.WriteFile(path, fmt.Appendln(nil, pid), 0o600) }

// Process is a running program that leads a process group.
type Process struct {
	command *exec.Cmd
	done    chan struct{}
}

// Start starts a command in its own process group.
func Start(command *exec.Cmd) (*Process, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{command: command, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = command.Wait() // State returns the result
	}()
	return p, nil
}

// State returns the exit state of the program, or nil if it is still running.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.command.ProcessState
	default:
		return nil
	}
}

// Context returns a context that is canceled when the program exits, with its exit status as the cause.
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

// Stop sends SIGTERM to the program and waits until it has exited. If the program is still running after the grace
// period, Stop kills the process group and returns an error.
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

// Kill kills the program and its children with SIGKILL, and waits until the program has exited.
func (p *Process) Kill() error {
	err := KillGroup(p.command)
	<-p.done
	return err
}
