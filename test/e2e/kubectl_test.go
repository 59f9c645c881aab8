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

func kubectl(ctx context.Context, args ...string) (string, error) {
	return kubectlWithInput(ctx, "", args...)
}

func kubectlWithInput(ctx context.Context, text string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, kubectlPath, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+testCluster.Kubeconfig, "KUBERC=off")
	command.Stdin = strings.NewReader(text)
	var out, stderr bytes.Buffer
	command.Stdout, command.Stderr = &out, &stderr
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}

var kubectlPath string

// findKubectl sets kubectlPath. It prefers the kubectl in PATH, because users run that one.
func findKubectl(ctx context.Context) error {
	var err error
	if kubectlPath, err = exec.LookPath("kubectl"); err == nil {
		return nil
	}
	dir, err := binaries.Ensure(ctx, "", reporter, "kubectl")
	kubectlPath = filepath.Join(dir, "kubectl")
	return err
}
