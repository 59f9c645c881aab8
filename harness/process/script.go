package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// scriptLines is how many lines of a failed script's output its error has, and scriptBytes how many bytes at most.
const (
	scriptLines = 20
	scriptBytes = 64 << 10
)

// Script is a shell script that works in one namespace of an API server.
type Script struct {
	// Content is run by sh -c.
	Content string
	// Folder is where it runs; if it is empty, that is this process's own.
	Folder string
	// Timeout is when it is killed.
	Timeout time.Duration
	// Env are variables such as "A=b", beside this process's.
	Env []string
	// SkipOutput is for output that nobody may see: the error does not have it.
	SkipOutput bool
}

// Run runs the script with the variables KUBECONFIG and NAMESPACE. The error of one that fails ends with the last lines of
// its output. Whatever the end, the children that it has started are killed.
func (s Script) Run(ctx context.Context, config *rest.Config, namespace string) error {
	folder, err := os.MkdirTemp("", "assay-script-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := WriteKubeconfig(kubeconfig, config, namespace); err != nil {
		return err
	}
	output, err := os.Create(filepath.Join(folder, "output")) // a file, for a child may hold a pipe open
	if err != nil {
		return err
	}
	defer output.Close()
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	command := Command(limited, "sh", "-c", s.Content)
	command.Dir = s.Folder
	command.Env = append(append(os.Environ(), s.Env...), "KUBECONFIG="+kubeconfig, "NAMESPACE="+namespace)
	command.Stdout, command.Stderr = output, output
	err = command.Run()
	var left error
	if command.Process != nil { // it has started
		left = KillGroup(command)
	}
	switch {
	case err == nil:
		return left
	case ctx.Err() == nil && limited.Err() != nil:
		err = fmt.Errorf("it has not ended within %s", s.Timeout)
	}
	if s.SkipOutput {
		return err
	}
	return withLastLines(err, output)
}

// withLastLines returns an error that ends with the last lines of a file.
func withLastLines(err error, file *os.File) error {
	info, unreadable := file.Stat()
	if unreadable != nil {
		return errors.Join(err, unreadable)
	}
	length := min(info.Size(), scriptBytes)
	content, unreadable := io.ReadAll(io.NewSectionReader(file, info.Size()-length, length))
	if unreadable != nil {
		return errors.Join(err, unreadable)
	}
	text := strings.TrimSpace(string(content))
	if text == "" {
		return err
	}
	lines := strings.Split(text, "\n")
	return fmt.Errorf("%w\n%s", err, strings.Join(lines[max(0, len(lines)-scriptLines):], "\n"))
}
