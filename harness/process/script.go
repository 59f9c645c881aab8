package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Limits on how much of a failed script's output is included in its error.
const (
	scriptLines = 20
	scriptBytes = 64 << 10
)

// Script is a shell script that runs against one namespace of a cluster.
type Script struct {
	// Content is run with sh -c.
	Content string
	// Folder is the working directory. Defaults to the working directory of this process.
	Folder  string
	Timeout time.Duration
	// Env contains additional environment variables, such as "A=b".
	Env []string
	// SkipOutput omits the output from the error. Set it if the output may contain secrets.
	SkipOutput bool
}

// Run runs the script with the environment variables KUBECONFIG and NAMESPACE. If the script fails, the error
// includes the last lines of its output. Run kills all remaining children of the script before it returns.
func (s Script) Run(ctx context.Context, config *rest.Config, namespace string) error {
	folder, err := MakeTempDir("assay-script-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := WriteKubeconfig(kubeconfig, config, namespace); err != nil {
		return err
	}
	output, err := os.Create(filepath.Join(folder, "output")) // not a pipe, because a child may keep it open
	if err != nil {
		return err
	}
	defer output.Close()
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	command := Command(limited, "sh", "-c", s.Content)
	command.Dir = s.Folder
	command.Env = append(NoProxy(append(os.Environ(), s.Env...)), "KUBECONFIG="+kubeconfig, "NAMESPACE="+namespace)
	command.Stdout, command.Stderr = output, output
	err = command.Run()
	var left error
	if command.Process != nil {
		left = KillGroup(command)
	}
	switch {
	case err == nil:
		return left
	case ctx.Err() == nil && limited.Err() != nil:
		err = fmt.Errorf("the script did not end within %s", s.Timeout)
	}
	if s.SkipOutput {
		return err
	}
	return withLastLines(err, output.Name())
}

func withLastLines(err error, file string) error {
	content, unreadable := os.ReadFile(file)
	if unreadable != nil {
		return errors.Join(err, unreadable)
	}
	text := strings.TrimSpace(string(content[max(0, len(content)-scriptBytes):]))
	if text == "" {
		return err
	}
	lines := strings.Split(text, "\n")
	return fmt.Errorf("%w\n%s", err, strings.Join(lines[max(0, len(lines)-scriptLines):], "\n"))
}
