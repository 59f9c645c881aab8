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

// Command returns a command that runs in its own process group. When ctx is done, the command and its children are
// killed.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay = outputDelay
	Isolate(command)
	return command
}

// Output runs a command and returns its standard output without leading and trailing white space. If the command
// fails, the error includes the last error in its output.
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
