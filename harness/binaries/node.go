package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Node is what a Kubernetes node runs, for Linux.
type Node struct {
	// Version is that of Kubernetes, with its leading v.
	Version string
	// Paths are the executables by their names: those of Ensure, kubeadm, kubelet, kube-proxy, containerd, ctr,
	// containerd-shim-runc-v2, crictl, coredns, and the CNI plugins host-local, loopback, portmap and ptp.
	Paths map[string]string
	// Images are what kubeadm will ask for, as it names them: registry.k8s.io/etcd:3.7.0-0.
	Images []string
}

// EnsureNode provides what a node of a Kubernetes version runs. It reads the version and works as Ensure does, but ignores
// KUBEBUILDER_ASSETS, which may be of any version: the parts of a node must fit each other. etcd and CoreDNS are of the
// versions that kubeadm names.
func EnsureNode(ctx context.Context, version string, progress io.Writer) (Node, error) {
	if runtime.GOOS != "linux" {
		return Node{}, fmt.Errorf("a Kubernetes node runs on Linux only, and this is %s", runtime.GOOS)
	}
	chosen, err := ResolveVersion(version)
	if err != nil {
		return Node{}, err
	}
	node := Node{Version: chosen, Paths: map[string]string{}}
	plane := controlPlane(chosen)
	plane.assets = ""
	if err := node.add(ctx, progress, plane, nodeTools(chosen), containerd(), cniPlugins(), crictl()); err != nil {
		return Node{}, err
	}
	if node.Images, err = expectedImages(ctx, node.Paths["kubeadm"], chosen); err != nil {
		return Node{}, err
	}
	etcdVersion, err := versionAmong(node.Images, "etcd")
	if err != nil {
		return Node{}, err
	}
	coreDNSVersion, err := versionAmong(node.Images, "coredns")
	if err != nil {
		return Node{}, err
	}
	return node, node.add(ctx, progress, etcd(etcdVersion), coreDNS(coreDNSVersion))
}

// add adds the executables of bundles; a later one replaces an earlier one of the same name.
func (n Node) add(ctx context.Context, progress io.Writer, bundles ...bundle) error {
	for _, s := range bundles {
		dir, err := ensure(ctx, s, progress)
		if err != nil {
			return err
		}
		for _, name := range s.names() {
			n.Paths[name] = filepath.Join(dir, name)
		}
	}
	return nil
}

// expectedImages asks kubeadm, which knows without a network.
func expectedImages(ctx context.Context, kubeadm, version string) ([]string, error) {
	out, err := exec.CommandContext(ctx, kubeadm, "config", "images", "list", "--kubernetes-version", version).Output()
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s does not list its images: %w: %s", kubeadm, err, oneLine(string(failure.Stderr)))
	}
	return strings.Fields(string(out)), err
}

// versionAmong returns the version of a project's image. etcd's tags lack the leading v, and end with the number of the
// image's build: 3.7.0-0.
func versionAmong(images []string, project string) (string, error) {
	for _, image := range images {
		name, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		if name == project {
			released, _, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
			return "v" + released, nil
		}
	}
	return "", fmt.Errorf("kubeadm expects no image of %s, only %s", project, strings.Join(images, ", "))
}
