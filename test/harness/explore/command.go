package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/process"
)

// Command is an operator that is a program of its own, in any language. Its environment variable KUBECONFIG names a
// file that points to a proxy, which injects the faults; in its arguments {kubeconfig} stands for that file. A crash
// is a kill -9 of the program and its children.
func Command(path string, arguments ...string) Operator {
	return func(ctx context.Context, config *rest.Config, log io.Writer) error {
		server, shut, err := faultinject.Proxy(config)
		if err != nil {
			return err
		}
		defer shut()
		folder, err := os.MkdirTemp("", "assay-operator-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		kubeconfig := filepath.Join(folder, "kubeconfig")
		if err := controlplane.WriteKubeconfig(kubeconfig, &rest.Config{Host: server}); err != nil {
			return err
		}
		return runCommand(ctx, path, arguments, kubeconfig, log)
	}
}

// runCommand runs a program until ctx ends, and kills it then.
func runCommand(ctx context.Context, path string, arguments []string, kubeconfig string, log io.Writer) error {
	command := exec.CommandContext(ctx, path)
	for _, argument := range arguments {
		command.Args = append(command.Args, strings.ReplaceAll(argument, "{kubeconfig}", kubeconfig))
	}
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	command.Stdout, command.Stderr = log, log
	process.Isolate(command)
	command.WaitDelay = time.Second // for children that hold its output open
	if err := command.Start(); err != nil {
		return err
	}
	err := command.Wait()
	_ = process.KillGroup(command) // the children that it has left behind
	switch {
	case ctx.Err() != nil:
		return nil // it was killed
	case err == nil:
		return errors.New("it exited with code 0")
	default:
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
}
