package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/operator-assay/assay/test/harness/binaries"
	"github.com/operator-assay/assay/test/harness/debian"
)

// prepareAndMake makes an image in a folder of its own within folder, which is gone afterwards. What a
// killed run has left there goes first: the lock is held.
func prepareAndMake(ctx context.Context, folder, version, name string) error {
	tell("%s is not in the Docker engine yet", name)
	left, err := filepath.Glob(filepath.Join(folder, "work-*"))
	if err != nil {
		return err
	}
	for _, work := range left {
		if err := os.RemoveAll(work); err != nil {
			return err
		}
	}
	if err := prepare(ctx, folder, version); err != nil {
		return err
	}
	node, err := binaries.EnsureNode(ctx, version, os.Stderr)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(folder, "work-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return makeImage(ctx, work, node, name)
}

func makeImage(ctx context.Context, work string, node binaries.Node, name string) error {
	root := filepath.Join(work, "root")
	from, err := debian.Mirror(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		does string
		do   func() error
	}{
		{"installing Debian " + suite + " from " + from, func() error { return installDebian(ctx, root, from) }},
		{"making it a node of kind " + kindVersion, func() error { return makeNode(ctx, root, node) }},
		{"storing the images of " + node.Version, func() error { return storeImages(ctx, work, root, node) }},
		{"handing it to the Docker engine", func() error { return hand(ctx, work, root, name) }},
	} {
		tell("%s", step.does)
		begin := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.does, err)
		}
		tell("  done in %s", time.Since(begin).Round(time.Second))
	}
	return nil
}

func installDebian(ctx context.Context, root, from string) error {
	tell("  which takes about a minute")
	_, err := output(ctx, apart("debootstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), suite, root, from)...)
	if err != nil {
		err = fmt.Errorf("%w: DEBIAN_MIRROR sets another mirror, http_proxy a proxy", err)
	}
	return err
}

// makeNode lays the files of kind, those of this folder and the executables over a Debian root.
func makeNode(ctx context.Context, root string, node binaries.Node) error {
	module, err := kindModule(ctx)
	if err != nil {
		return err
	}
	own, err := fs.Sub(recipe, "node")
	if err != nil {
		return err
	}
	for _, files := range []fs.FS{os.DirFS(filepath.Join(module, "images", "base", "files")), own} {
		if err := os.CopyFS(root, files); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "kind", "version"), []byte(node.Version), 0o644); err != nil {
		return err
	}
	for name, folder := range map[string]string{
		"kubeadm": "usr/bin", "kubelet": "usr/bin", "kubectl": "usr/bin",
		"containerd": "usr/local/bin", "containerd-shim-runc-v2": "usr/local/bin", "ctr": "usr/local/bin", "crictl": "usr/local/bin",
		"host-local": "opt/cni/bin", "loopback": "opt/cni/bin", "portmap": "opt/cni/bin", "ptp": "opt/cni/bin",
	} {
		if err := install(node.Paths[name], filepath.Join(root, folder, name)); err != nil {
			return err
		}
	}
	return inside(ctx, root, script("setup.sh"), &bytes.Buffer{}, sandboxImage)
}

// kindModule returns the folder of kind's module, whose checksum the go command verifies.
func kindModule(ctx context.Context) (string, error) {
	var out bytes.Buffer
	download := command(ctx, "go", "mod", "download", "-json", "sigs.k8s.io/kind@"+kindVersion)
	download.Dir = os.TempDir() // where no go.mod has a say
	err := run(download, &out)
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out.Bytes(), &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("sigs.k8s.io/kind@%s, which GOPROXY may help with: %s", kindVersion, module.Error)
	}
	return module.Dir, err
}

// install copies an executable.
func install(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

// hand makes an image of the root. It gets its name when it is whole; until then, its files have one that
// goes whatever happens.
func hand(ctx context.Context, work, root, name string) error {
	files, archive := name+"-files", filepath.Join(work, "root.tar")
	if _, err := output(ctx, "tar", "--directory="+root, "--numeric-owner", "--create", "--file="+archive, "."); err != nil {
		return err
	}
	defer func() {
		// Not by ctx, because an interrupted run has to tidy up as well; where nothing is left, it fails.
		_, _ = output(context.WithoutCancel(ctx), "docker", "image", "rm", files)
	}()
	if _, err := output(ctx, "docker", "import", archive, files); err != nil {
		return err
	}
	build := command(ctx, "docker", "build", "--quiet", "--force-rm", "--build-arg=FILES="+files, "--tag="+name, "-")
	build.Stdin = strings.NewReader(script("Dockerfile"))
	return run(build, &bytes.Buffer{})
}
