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
)

const (
	// containerdTimeout is for a containerd that has nothing to do but to open an empty store.
	containerdTimeout = 30 * time.Second
	// importTimeout is for the import of all images.
	importTimeout = 5 * time.Minute
)

// containerdConfig is for a containerd that only stores images. The node's own goes by kind's.
const containerdConfig = `version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",
  "io.containerd.nri.v1.nri", "io.containerd.internal.v1.restart", "io.containerd.podsandbox.controller.v1.podsandbox"]
[plugins."io.containerd.internal.v1.opt"]
  path = %q
`

// storeImages puts the images that a cluster begins with into the root's store of images, where its containerd finds
// them. They are not unpacked, which takes privileges and is soon done at a cluster's start.
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
			continue // containerd is told of another one
		}
		file, ok := b.node.Paths[program]
		if !ok {
			return fmt.Errorf("kubeadm wants the image %s, and no program is known for it", name)
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

// programOf returns the last part of an image's name, without its tag.
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

// writeProxyBase writes a tar of what kube-proxy needs beside itself.
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

// importArchive runs the node's containerd on this host, on the root's store.
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
	err = errors.Join(b.importBy(ctx, socket, archive), daemon.Stop(containerdTimeout)) // it has a store to write
	if err != nil {
		return fmt.Errorf("%w; containerd says: %s", err, process.LastErrorIn(log.String()))
	}
	return nil
}

func (b *nodeBuild) importBy(ctx context.Context, socket, archive string) error {
	ctr := func(args ...string) error {
		_, err := process.Output(process.Command(ctx, b.node.Paths["ctr"], append([]string{"--address=" + socket}, args...)...))
		return err
	}
	for start := time.Now(); ; {
		if err := ctr("--connect-timeout=1s", "version"); err == nil {
			break
		} else if time.Since(start) > containerdTimeout || ctx.Err() != nil {
			return fmt.Errorf("containerd did not start: %w", err)
		}
		time.Sleep(50 * time.Millisecond) // it tells nobody when its socket is there
	}
	return ctr("--namespace=k8s.io", "images", "import", "--label=io.cri-containerd.pinned=pinned", "--all-platforms", "--no-unpack", "--digests", archive)
}
