package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

const (
	containerdTimeout = 30 * time.Second // for the start with an empty store, and for the stop
	importTimeout     = 5 * time.Minute  // for all images
)

// containerdConfig configures containerd for storing images only. The node itself uses kind's configuration.
const containerdConfig = `version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",
  "io.containerd.nri.v1.nri", "io.containerd.internal.v1.restart", "io.containerd.podsandbox.controller.v1.podsandbox"]
[plugins."io.containerd.internal.v1.opt"]
  path = %q
`

// storeImages imports the images that a new cluster needs into the root's containerd store. It does not unpack them:
// that needs more privileges, and is fast enough when a cluster starts.
func (b *nodeBuild) storeImages(ctx context.Context) error {
	pause, err := b.buildPause(ctx)
	if err != nil {
		return err
	}
	base, err := b.writeProxyBase(ctx)
	if err != nil {
		return err
	}
	programs := []programImage{{name: sandboxImage, program: "/pause", file: pause}}
	for _, name := range b.node.Images {
		program := programOf(name)
		if program == "pause" {
			continue // containerd uses sandboxImage
		}
		file, ok := b.node.Paths[program]
		if !ok {
			return fmt.Errorf("cannot build image %s, which kubeadm requires: unknown program %s", name, program)
		}
		image := programImage{name: name, program: "/usr/local/bin/" + program, file: file}
		if program == "kube-proxy" {
			image.base = base
		}
		programs = append(programs, image)
	}
	archive := filepath.Join(b.work, "images.tar")
	if err := writeArchive(archive, programs); err != nil {
		return err
	}
	return errors.Join(b.importArchive(ctx, archive), os.Remove(archive))
}

func programOf(image string) string {
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

func (b *nodeBuild) buildPause(ctx context.Context) (program string, err error) {
	source, program := filepath.Join(b.work, "pause.go"), filepath.Join(b.work, "pause")
	if err := os.WriteFile(source, []byte(nodeFile("pause/main.go")), 0o644); err != nil {
		return "", err
	}
	build := process.Command(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source)
	build.Dir = b.work
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	_, err = process.Output(build)
	return program, err
}

func (b *nodeBuild) writeProxyBase(ctx context.Context) (file string, err error) {
	base, err := os.Create(filepath.Join(b.work, "kube-proxy.tar"))
	if err != nil {
		return "", err
	}
	script := b.inside(ctx, nodeFile("kube-proxy.sh"))
	script.Stdout = base
	_, err = process.Output(script)
	return base.Name(), errors.Join(err, base.Close())
}

// importArchive runs the containerd of the node on this host, to import images into the store of the root.
func (b *nodeBuild) importArchive(ctx context.Context, archive string) error {
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	state := filepath.Join(b.work, "containerd")
	socket, config := filepath.Join(state, "containerd.sock"), filepath.Join(b.work, "containerd.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, containerdConfig, filepath.Join(state, "opt")), 0o644); err != nil {
		return err
	}
	containerd := exec.Command(b.node.Paths["containerd"], "--config="+config, "--root="+filepath.Join(b.root, "var/lib/containerd"),
		"--state="+state, "--address="+socket, "--log-level=warn")
	log := &strings.Builder{}
	containerd.Stdout, containerd.Stderr = log, log
	daemon, err := process.Start(containerd)
	if err != nil {
		return err
	}
	err = errors.Join(b.importBy(ctx, socket, archive), daemon.Stop(containerdTimeout)) // stop gracefully, so that the store is complete
	if err != nil {
		return fmt.Errorf("%w; last error of containerd: %s", err, process.LastErrorIn(log.String()))
	}
	return nil
}

func (b *nodeBuild) importBy(ctx context.Context, socket, archive string) error {
	ctr := func(args ...string) error {
		_, err := process.Output(process.Command(ctx, b.node.Paths["ctr"], append([]string{"--address=" + socket}, args...)...))
		return err
	}
	// containerd does not signal that its socket is ready, so poll.
	err := wait.For(ctx, containerdTimeout, wait.Poll(50*time.Millisecond), func(context.Context) error { return ctr("--connect-timeout=1s", "version") })
	if err != nil {
		return fmt.Errorf("containerd did not start: %w", err)
	}
	return ctr("--namespace=k8s.io", "images", "import", "--label=io.cri-containerd.pinned=pinned", "--all-platforms", "--no-unpack", "--digests", archive)
}
