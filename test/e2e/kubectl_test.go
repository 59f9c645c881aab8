package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/harness/binaries"
)

// kubectl runs kubectl against the suite's cluster and returns what it prints.
func kubectl(ctx context.Context, args ...string) (string, error) {
	return kubectlReading(ctx, "", args...)
}

// kubectlReading is kubectl with something on its standard input.
func kubectlReading(ctx context.Context, text string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, kubectlPath, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+testCluster.Kubeconfig, "KUBERC=off")
	command.Stdin = strings.NewReader(text)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// kubectlPath is the command that findKubectl has found.
var kubectlPath string

// findKubectl prefers the kubectl in the PATH, which is what users run.
func findKubectl(ctx context.Context) error {
	var err error
	if kubectlPath, err = exec.LookPath("kubectl"); err == nil {
		return nil
	}
	dir, err := binaries.Ensure(ctx, "", reporter)
	kubectlPath = filepath.Join(dir, "kubectl")
	return err
}
