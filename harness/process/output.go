package process

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// outputDelay is how long Wait waits for the end of the output of a command that has ended: a child that has left the
// group may hold it open.
const outputDelay = time.Second

// Command prepares an isolated command that is killed, with its children, when ctx ends.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay = outputDelay
	Isolate(command)
	return command
}

// Output runs a command and returns what it writes to its standard output, without the blanks around it. The error of a
// command that fails ends with the last error that it wrote.
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
