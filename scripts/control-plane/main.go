// Command control-plane gets the binaries that the integration tests run: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kubectl. It prints the folder that holds them, and
// nothing else, on standard output, so that a script can capture it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/operator-assay/assay/test/harness/binaries"
)

const usage = `Usage: control-plane

Gets the binaries of a Kubernetes control plane and prints the folder that holds them.
It takes, in this order: KUBEBUILDER_ASSETS, its store, the published downloads, a build
from Go modules. Progress goes to standard error.

Environment:
  K8S_VERSION         version of Kubernetes, default ` + binaries.DefaultVersion + `
  KUBEBUILDER_ASSETS  a folder with the binaries, if you have them already
  HTTPS_PROXY         proxy for the downloads
  GOPROXY             Go module proxy for the build
  XDG_CACHE_HOME      where the store is on Linux, default ~/.cache
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	dir, err := binaries.Ensure(ctx, "", os.Stderr)
	stop()
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; nothing half made is left")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
