package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// dockerTimeout bounds what normally takes milliseconds: an answer of the Docker engine, or of an API server.
const dockerTimeout = 10 * time.Second

// engineAnswers returns docker's error if the Docker engine does not answer.
func engineAnswers(ctx context.Context) error {
	asking, cancel := context.WithTimeoutCause(ctx, dockerTimeout, fmt.Errorf("nothing came within %s", dockerTimeout))
	defer cancel()
	_, err := docker(asking, "version", "--format={{.Server.Version}}")
	return err
}

// docker runs a docker command and returns its output. The error is docker's last line.
func docker(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "docker", args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	return strings.TrimSpace(stdout.String()), dockerError(ctx, err, stderr.String())
}

func dockerError(ctx context.Context, err error, said string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("the docker command is not installed")
	}
	line := strings.TrimPrefix(lastLine(said), "Error response from daemon: ")
	line, _, _ = strings.Cut(line, `: Get "http://%2F`) // the socket once more
	line = strings.TrimRight(strings.TrimSuffix(line, "Is the docker daemon running?"), ". ")
	if line == "" {
		return err
	}
	return errors.New(line)
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:])
}

// pullImage pulls an image. Only the registry's first answer is bounded in time.
func pullImage(ctx context.Context, image string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(dockerTimeout, func() { cancel(fmt.Errorf("its registry did not answer within %s", dockerTimeout)) })
	defer patience.Stop()
	command := exec.CommandContext(ctx, "docker", "pull", image)
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = onWrite(func() { patience.Stop() }), &stderr
	err := command.Run()
	return dockerError(ctx, err, stderr.String())
}

// onWrite is called at each write, and drops the text.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
