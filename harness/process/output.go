package process

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// outputDelay is how long Wait waits for the output to be closed after the command has exited. A child that has left
// the process group may still have it open.
const outputDelay = time.Second

// Command returns a command in its own process group, which is killed when ctx is done.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay = outputDelay
	Isolate(command)
	return command
}

// Output returns the trimmed standard output of a command. Its error includes the last error in the command's output.
func Output(command *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	if command.Stdout == nil {
		command.Stdout = &stdout
	}
	command.Stderr = &stderr
	err := command.Run()
	output := strings.TrimSpace(stdout.String())
	if err == nil {
		return output, nil
	}
	if why := LastErrorIn(stderr.String() + "\n" + output); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return output, err
}

// WriterFunc is an io.Writer that calls a function.
type WriterFunc func(data []byte) (int, error)

func (w WriterFunc) Write(data []byte) (int, error) { return w(data) }
