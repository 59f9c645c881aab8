package main

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

	"github.com/operator-assay/assay/test/harness/binaries"
)

// importTimeout is for a containerd that has nothing to do but to open an empty store.
const importTimeout = 30 * time.Second

// containerdConfig is for a containerd that only stores images. The node's own goes by kind's.
const containerdConfig = `version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",
  "io.containerd.nri.v1.nri", "io.containerd.internal.v1.restart", "io.containerd.podsandbox.controller.v1.podsandbox"]
[plugins."io.containerd.internal.v1.opt"]
  path = %q
`

// storeImages puts the images that a cluster begins with into the root's store of images, where its
// containerd finds them. They are not unpacked, which takes privileges and is soon done at a cluster's start.
func storeImages(ctx context.Context, work, root string, node binaries.Node) error {
	pause, err := buildPause(ctx, work)
	if err != nil {
		return err
	}
	base := filepath.Join(work, "kube-proxy.tar")
	if err := writeProxyBase(ctx, root, base); err != nil {
		return err
	}
	images := []image{{name: sandboxImage, program: "/pause", from: pause}}
	for _, name := range node.Images {
		program := programOf(name)
		if program == "pause" {
			continue // containerd is told of another one
		}
		from, ok := node.Paths[program]
		if !ok {
			return fmt.Errorf("kubeadm wants the image %s, and no program is known for it", name)
		}
		image := image{name: name, program: "/usr/local/bin/" + program, from: from}
		if program == "kube-proxy" {
			image.base = base
		}
		images = append(images, image)
	}
	archive := filepath.Join(work, "images.tar")
	if err := writeArchive(work, archive, images); err != nil {
		return err
	}
	return errors.Join(importInto(ctx, work, root, archive, node), os.Remove(archive))
}

// programOf returns the last part of an image's name, without its tag.
func programOf(image string) string {
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

func buildPause(ctx context.Context, work string) (string, error) {
	source, program := filepath.Join(work, "pause.go"), filepath.Join(work, "pause")
	if err := os.WriteFile(source, []byte(script("pause/main.go")), 0o644); err != nil {
		return "", err
	}
	build := command(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source)
	build.Dir = work
	build.Env = append(build.Env, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	return program, run(build, os.Stderr)
}

func writeProxyBase(ctx context.Context, root, file string) error {
	base, err := os.Create(file)
	if err != nil {
		return err
	}
	defer base.Close()
	return errors.Join(inside(ctx, root, script("kube-proxy.sh"), base), base.Close())
}

// importInto runs the node's containerd on this host, on the root's store.
func importInto(ctx context.Context, work, root, archive string, node binaries.Node) error {
	ctx, stop := context.WithTimeout(ctx, 10*importTimeout)
	defer stop()
	state := filepath.Join(work, "containerd")
	socket, config := filepath.Join(state, "containerd.sock"), filepath.Join(work, "containerd.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, containerdConfig, filepath.Join(state, "opt")), 0o644); err != nil {
		return err
	}
	daemon := command(ctx, node.Paths["containerd"], "--config="+config, "--root="+filepath.Join(root, "var/lib/containerd"),
		"--state="+state, "--address="+socket, "--log-level=warn")
	log, err := os.Create(filepath.Join(work, "containerd.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	daemon.Stdout, daemon.Stderr = log, log
	if err := daemon.Start(); err != nil {
		return err
	}
	err = importBy(ctx, node.Paths["ctr"], socket, archive)
	if err != nil {
		if complaint, readErr := os.ReadFile(log.Name()); readErr == nil {
			err = fmt.Errorf("%w; containerd says: %s", err, lastLine(string(complaint)))
		}
	}
	return errors.Join(err, end(daemon))
}

func importBy(ctx context.Context, ctr, socket, archive string) error {
	for begin := time.Now(); ; {
		if _, err := output(ctx, ctr, "--address="+socket, "--connect-timeout=1s", "version"); err == nil {
			break
		} else if time.Since(begin) > importTimeout || ctx.Err() != nil {
			return fmt.Errorf("containerd did not start: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	_, err := output(ctx, ctr, "--address="+socket, "--namespace=k8s.io", "images", "import",
		"--label=io.cri-containerd.pinned=pinned", "--all-platforms", "--no-unpack", "--digests", archive)
	return err
}

// end asks a daemon to stop, so that its store is written, and waits until it has.
func end(daemon *exec.Cmd) error {
	if err := daemon.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return daemon.Wait()
}
