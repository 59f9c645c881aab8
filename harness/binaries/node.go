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

// Node holds the executables and images for a Linux node.
type Node struct {
	// Version is the Kubernetes version, with a leading v.
	Version string
	// Paths maps the names of the executables to their paths. It contains the executables that Ensure provides, plus
	// kubeadm, kubelet, kube-proxy, containerd, ctr, containerd-shim-runc-v2, crictl, coredns, and the CNI plugins
	// host-local, loopback, portmap and ptp.
	Paths map[string]string
	// Images are the images that kubeadm requires, such as registry.k8s.io/etcd:3.7.0-0.
	Images []string
}

// EnsureNode provides the executables for a node. It works like Ensure, except that it ignores KUBEBUILDER_ASSETS,
// because all executables on a node must have compatible versions. kubeadm determines the etcd and CoreDNS versions.
func EnsureNode(ctx context.Context, version string, progress io.Writer) (Node, error) {
	if runtime.GOOS != "linux" {
		return Node{}, fmt.Errorf("a Kubernetes node requires Linux, but this system is %s", runtime.GOOS)
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
	etcdVersion, noEtcd := versionAmong(node.Images, "etcd")
	coreDNSVersion, noCoreDNS := versionAmong(node.Images, "coredns")
	if err := errors.Join(noEtcd, noCoreDNS); err != nil {
		return Node{}, err
	}
	return node, node.add(ctx, progress, etcd(etcdVersion), coreDNS(coreDNSVersion))
}

// add adds the bundles' executables. If several bundles contain an executable with the same name, the last one wins.
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

// expectedImages returns the images that kubeadm requires. kubeadm lists them without network access.
func expectedImages(ctx context.Context, kubeadm, version string) ([]string, error) {
	out, err := exec.CommandContext(ctx, kubeadm, "config", "images", "list", "--kubernetes-version", version).Output()
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s does not list its images: %w: %s", kubeadm, err, oneLine(string(failure.Stderr)))
	}
	return strings.Fields(string(out)), err
}

// versionAmong returns a project's version, which it derives from the image tag: v3.7.0 from the etcd tag 3.7.0-0.
func versionAmong(images []string, project string) (string, error) {
	for _, image := range images {
		name, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		if name == project {
			released, _, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
			return "v" + released, nil
		}
	}
	return "", fmt.Errorf("kubeadm lists no %s image, only %s", project, strings.Join(images, ", "))
}
