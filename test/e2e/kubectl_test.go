package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/operator-assay/assay/test/harness/binaries"
)

// kubectl runs kubectl against the suite's cluster and returns what it prints.
func kubectl(ctx context.Context, args ...string) (string, error) {
	return kubectlReading(ctx, "", args...)
}

// kubectlReading is kubectl with something on its standard input.
func kubectlReading(ctx context.Context, text string, args ...string) (string, error) {
	path, err := findKubectl()
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+where.Kubeconfig)
	command.Stdin = strings.NewReader(text)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// findKubectl takes the user's own where there is one, for that is what users have.
var findKubectl = sync.OnceValues(func() (string, error) {
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path, nil
	}
	dir, err := binaries.Ensure(context.Background(), "", told)
	return filepath.Join(dir, "kubectl"), err
})
