// Command with-control-plane runs a command with KUBECONFIG naming a control plane of its own: a real API
// server, etcd and kube-controller-manager, which start in seconds and end with the command. Its exit code is
// the command's. `make verify-manifests` has an API server judge the manifests by it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/harness/controlplane"
)

const usage = `Usage: with-control-plane COMMAND [ARGUMENT...]

Runs a command with KUBECONFIG naming a control plane that ends with it.

Environment:
  K8S_VERSION         version of Kubernetes
  KUBEBUILDER_ASSETS  a folder with the control plane's binaries, if you have them already
`

// patience is how long a command that was interrupted may take to end.
const patience = 10 * time.Second

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Arg(0), flag.Args()[1:]...)
	stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode()) // what there is to say has been said
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "with-control-plane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, arguments ...string) (err error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := plane.Stop(); stopped != nil {
			err = stopped
		}
	}()
	dir, err := os.MkdirTemp("", "with-control-plane-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, plane.Config); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = patience
	return command.Run()
}
