// Package process starts programs so that they end when they should, and says in a line why they failed.
//
// A program that is started here shares a process group with what it starts, and with nobody else. So Ctrl-C at a
// terminal, which goes to the terminal's whole group, does not reach it, and its end is that of its children.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// outputDelay is how long Wait waits for the end of the output of a program that has ended: a child that has left
// the group may hold it open.
const outputDelay = time.Second

// Command prepares a program that is killed, with all that it has started, when ctx ends.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return KillGroup(command) }
	command.WaitDelay = outputDelay
	return command
}

// SignalFirst has the end of the context signal a program that Command has prepared, rather than kill it. One that has not
// ended when the grace period has passed is killed.
func SignalFirst(command *exec.Cmd, signal os.Signal, grace time.Duration) {
	command.Cancel = func() error { return command.Process.Signal(signal) }
	command.WaitDelay = grace
}

// KillGroup kills a program that was started, and all that it has started. It is no error if nothing is left of them.
func KillGroup(command *exec.Cmd) error {
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Output runs a command and returns what it writes to its standard output, without the blanks around it. The error of a
// command that fails ends with its last error.
func Output(command *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	if command.Stdout == nil {
		command.Stdout = &stdout
	}
	command.Stderr = &stderr
	err := command.Run()
	printed := strings.TrimSpace(stdout.String())
	if err == nil {
		return printed, nil
	}
	if why := LastError(stderr.String() + "\n" + printed); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return printed, err
}

// errorLine matches the lines in which klog, etcd, cobra and the Go runtime say why they give up.
var errorLine = regexp.MustCompile(`^[EF]\d{4} |"level":"(error|fatal|panic)"|^(Error|panic|fatal error):`)

// LastError returns the last line of a log that tells of an error or, where none does, the last line that is not blank.
func LastError(log string) string {
	last, isError := "", false
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if matches := errorLine.MatchString(line); line != "" && (matches || !isError) {
			last, isError = line, isError || matches
		}
	}
	return last
}
