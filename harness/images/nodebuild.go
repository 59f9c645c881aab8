package images

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/process"
)

type nodeBuild struct {
	engine *Engine
	node   binaries.Node
	work   string // temporary directory
	root   string // root file system of the node, inside work
}

func (e *Engine) buildNode(ctx context.Context, work, version, name string) error {
	_ = os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // contain debootstrap and chroot, but may not be in a user's PATH
	if err := checkUser(runtime.GOOS, os.Geteuid(), version); err != nil {
		return err
	}
	if err := e.installDebootstrap(ctx); err != nil {
		return err
	}
	node, err := binaries.EnsureNode(ctx, version, e.progress)
	if err != nil {
		return err
	}
	mirror, err := debianMirror(ctx)
	if err != nil {
		return err
	}
	defer syscall.Umask(syscall.Umask(0o022)) // the files of the image must be readable for all users
	b := &nodeBuild{engine: e, node: node, work: work, root: filepath.Join(work, "root")}
	for _, step := range []struct {
		description string
		do          func() error
	}{
		{"installing Debian " + debianRelease + " from " + mirror, func() error { return b.installDebian(ctx, mirror) }},
		{"adding the files of kind " + kindVersion, func() error { return b.makeNode(ctx) }},
		{"storing the images of " + node.Version, func() error { return b.storeImages(ctx) }},
		{"importing the image into the Docker engine", func() error { return b.importRoot(ctx, name) }},
	} {
		start := time.Now()
		stop := e.log.During(func() string { return step.description })
		err := step.do()
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", step.description, err)
		}
		e.log.Printf("%s took %s", step.description, time.Since(start).Round(time.Second))
	}
	return nil
}

func (b *nodeBuild) installDebian(ctx context.Context, mirror string) error {
	debootstrap := isolated(ctx, "debootstrap", "--variant=minbase", "--include="+strings.Join(nodePackages, ","), debianRelease, b.root, mirror)
	debootstrap.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if _, err := process.Output(debootstrap); err != nil {
		return fmt.Errorf("%w: set DEBIAN_MIRROR to use another mirror, or http_proxy to use a proxy", err)
	}
	return nil
}

// makeNode copies kind's files, this package's files and the executables into the root, and runs setup.sh.
func (b *nodeBuild) makeNode(ctx context.Context) error {
	module, err := kindModule(ctx)
	if err != nil {
		return err
	}
	own, err := fs.Sub(nodeRecipe, "node/root")
	if err != nil {
		return err
	}
	for _, files := range []fs.FS{os.DirFS(filepath.Join(module, "images", "base", "files")), own} {
		if err := os.CopyFS(b.root, files); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.root, "kind", "version"), []byte(b.node.Version), 0o644); err != nil {
		return err
	}
	for name, folder := range map[string]string{
		"kubeadm": "usr/bin", "kubelet": "usr/bin", "kubectl": "usr/bin",
		"containerd": "usr/local/bin", "containerd-shim-runc-v2": "usr/local/bin", "ctr": "usr/local/bin", "crictl": "usr/local/bin",
		"host-local": "opt/cni/bin", "loopback": "opt/cni/bin", "portmap": "opt/cni/bin", "ptp": "opt/cni/bin",
	} {
		if _, err := process.Output(process.Command(ctx, "install", "-D", b.node.Paths[name], filepath.Join(b.root, folder, name))); err != nil {
			return err
		}
	}
	_, err = process.Output(b.inside(ctx, nodeFile("setup.sh"), sandboxImage))
	return err
}

// kindModule returns the directory of kind's module. The go command verifies its checksum.
func kindModule(ctx context.Context) (string, error) {
	download := process.Command(ctx, "go", "mod", "download", "-json", "sigs.k8s.io/kind@"+kindVersion)
	download.Dir = os.TempDir() // outside any module
	out, err := process.Output(download)
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(out), &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("cannot download sigs.k8s.io/kind@%s: %s: check GOPROXY", kindVersion, module.Error)
	}
	return module.Dir, err
}

// importRoot creates an image from the root. Its metadata follows https://systemd.io/CONTAINER_INTERFACE.
func (b *nodeBuild) importRoot(ctx context.Context, name string) error {
	archive := filepath.Join(b.work, "root.tar")
	tar := process.Command(ctx, "tar", "--directory="+b.root, "--numeric-owner", "--create", "--file="+archive, ".")
	if _, err := process.Output(tar); err != nil {
		return err
	}
	_, err := b.engine.Run(ctx, "import", "--change=ENV container=docker", `--change=ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]`, archive, name)
	return err
}

// isolated returns a command that runs in its own mount and PID namespaces, so that it cannot leave mounts or processes
// behind.
func isolated(ctx context.Context, line ...string) *exec.Cmd {
	return process.Command(ctx, "unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child"}, line...)...)
}

func (b *nodeBuild) inside(ctx context.Context, script string, args ...string) *exec.Cmd {
	command := isolated(ctx, append([]string{"chroot", b.root, "/bin/bash", "-s", "--"}, args...)...)
	command.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"}
	command.Stdin = strings.NewReader(script)
	return command
}
