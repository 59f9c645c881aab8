// Command node-image makes the image of a kind node for a Kubernetes version where no registry answers,
// once per version, and prints its name, and nothing else, on standard output.
//
// kind's own images are published as kindest/node; who can pull those needs none of this. But networks that
// tests run in often reach a Go module proxy and a Debian mirror only. So this image is a Debian root, the
// files of kind's module that make that a node, and executables that package binaries provides.
//
// It is not kindest/node. What kubeadm deploys is there under the names that kubeadm expects,
// registry.k8s.io/kube-apiserver and so on: each the real program of that version, but on an image of this
// program's making, and so no image of that registry. The pause process is this folder's own, under a name
// of its own. In place of kindnet a service of each node connects Pods, over IPv4 and without network
// policies; and a volume claim finds no provisioner. kind load, kind export logs and several nodes work.
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

const usage = `Usage: node-image

Makes the image of a kind node of Debian's packages and Go modules, unless the Docker engine has
it already, and prints its name. Progress goes to standard error. Making it needs Linux, root and
debootstrap, which is installed where apt-get can; the first time takes minutes.

Environment:
  K8S_VERSION     version of Kubernetes, default ` + binaries.DefaultVersion + `
  DEBIAN_MIRROR   where Debian's packages come from, default: the mirror of the host's own
  http_proxy      proxy for Debian's packages
  HTTPS_PROXY     proxy for the downloads
  GOPROXY         Go module proxy for the builds
  XDG_CACHE_HOME  where executables are kept and the image is put together, default ~/.cache
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	syscall.Umask(0o022) // the files of a root are for everybody to read
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	name, err := ensure(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted; nothing half made is left")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "node-image:", err)
		os.Exit(1)
	}
	fmt.Println(name)
}

// ensure returns the name of an image that the Docker engine has.
func ensure(ctx context.Context) (string, error) {
	version, err := binaries.ResolveVersion("")
	if err != nil {
		return "", err
	}
	if err := dockerAnswers(ctx); err != nil {
		return "", err
	}
	name := imageName(version)
	if has(ctx, name) {
		return name, nil
	}
	folder, err := workFolder()
	if err != nil {
		return "", err
	}
	unlock, err := lock(ctx, folder)
	if err != nil {
		return "", err
	}
	defer unlock()
	if has(ctx, name) {
		return name, nil // another run has made it while this one waited
	}
	return name, prepareAndMake(ctx, folder, version, name)
}

func tell(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "node image  "+format+"\n", args...)
}
