package binaries

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Versions of executables that are not part of Kubernetes. containerd, crictl and the CNI plugins have the same
// versions as in kind v0.33 node images, because kind's node configuration is written for them.
const (
	// KWOKVersion is the version of kwok and kwokctl.
	KWOKVersion = "v0.8.0"
	// ContainerdVersion is the version of containerd, ctr and containerd-shim-runc-v2.
	ContainerdVersion = "v2.3.4"
	// CrictlVersion is the version of crictl.
	CrictlVersion = "v1.36.0"
	// CNIPluginsVersion is the version of the CNI plugins.
	CNIPluginsVersion = "v1.9.1"
)

const kubernetes = "Kubernetes"

// bundle is a set of executables that have the same version and share a store directory.
type bundle struct {
	title    string // prefix of progress messages
	project  string
	version  string
	assets   string            // environment variable for a directory with existing executables; may be empty
	module   string            // provides the packages, directly or through its dependencies
	packages map[string]string // by executable name
	tags     string            // build tags
	ldflagsX []string          // linker variables that a release build sets
}

func (s bundle) names() []string { return slices.Sorted(maps.Keys(s.packages)) }

func (s bundle) only(names []string) bundle {
	s.packages = maps.Clone(s.packages)
	maps.DeleteFunc(s.packages, func(name, _ string) bool { return !slices.Contains(names, name) })
	return s
}

func (s bundle) missing(dir string) []string {
	return slices.DeleteFunc(s.names(), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 && info.Size() > 0
	})
}

func (s bundle) usersDir() string { return strings.TrimSpace(os.Getenv(s.assets)) }

func (s bundle) folder() string { return strings.ReplaceAll(s.title, " ", "-") }

// controlPlane returns the control-plane bundle, limited to the given names if there are any. If etcd is built locally,
// its version is the one in the go.mod of Kubernetes.
func controlPlane(version string, names ...string) bundle {
	s := kubernetesBundle(version, "control plane", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
	s.assets = "KUBEBUILDER_ASSETS"
	s.packages["etcd"] = "go.etcd.io/etcd/server/v3"
	if len(names) > 0 {
		return s.only(names)
	}
	return s
}

func kubernetesBundle(version, title string, names ...string) bundle {
	s := bundle{title: title, project: kubernetes, version: version, module: "k8s.io/kubernetes", packages: map[string]string{}}
	for _, name := range names {
		s.packages[name] = "k8s.io/kubernetes/cmd/" + name
	}
	for _, stamped := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		s.ldflagsX = append(s.ldflagsX,
			stamped+".gitVersion="+version,
			stamped+".gitMajor=1",
			stamped+".gitMinor="+strings.Split(version, ".")[1],
			stamped+".gitTreeState=clean")
	}
	return s
}

func kwok() bundle {
	return bundle{
		title:   "kwok",
		project: "KWOK",
		version: KWOKVersion,
		assets:  "KWOK_ASSETS",
		module:  "sigs.k8s.io/kwok",
		packages: map[string]string{
			"kwok":    "sigs.k8s.io/kwok/cmd/kwok",
			"kwokctl": "sigs.k8s.io/kwok/cmd/kwokctl",
		},
	}
}

func nodeTools(version string) bundle {
	return kubernetesBundle(version, "node", "kubeadm", "kubelet", "kube-proxy")
}

// containerd returns the bundle of containerd, without the snapshotters that do not work in a container.
func containerd() bundle {
	const module = "github.com/containerd/containerd/v2"
	return bundle{
		title:   "containerd",
		project: "containerd",
		version: ContainerdVersion,
		module:  module,
		packages: map[string]string{
			"containerd":              module + "/cmd/containerd",
			"containerd-shim-runc-v2": module + "/cmd/containerd-shim-runc-v2",
			"ctr":                     module + "/cmd/ctr",
		},
		tags:     "no_aufs,no_zfs,no_btrfs,no_devmapper",
		ldflagsX: []string{module + "/version.Version=" + ContainerdVersion},
	}
}

func cniPlugins() bundle {
	const module = "github.com/containernetworking/plugins"
	return bundle{
		title:   "cni plugins",
		project: "CNI plugins",
		version: CNIPluginsVersion,
		module:  module,
		packages: map[string]string{
			"host-local": module + "/plugins/ipam/host-local",
			"loopback":   module + "/plugins/main/loopback",
			"portmap":    module + "/plugins/meta/portmap",
			"ptp":        module + "/plugins/main/ptp",
		},
		ldflagsX: []string{module + "/pkg/utils/buildversion.BuildVersion=" + CNIPluginsVersion},
	}
}

func crictl() bundle {
	return bundle{
		title:    "crictl",
		project:  "crictl",
		version:  CrictlVersion,
		module:   "sigs.k8s.io/cri-tools",
		packages: map[string]string{"crictl": "sigs.k8s.io/cri-tools/cmd/crictl"},
		ldflagsX: []string{"sigs.k8s.io/cri-tools/pkg/version.Version=" + CrictlVersion},
	}
}

func etcd(version string) bundle {
	const module = "go.etcd.io/etcd/server/v3"
	return bundle{title: "etcd", project: "etcd", version: version, module: module, packages: map[string]string{"etcd": module}}
}

func coreDNS(version string) bundle {
	const module = "github.com/coredns/coredns"
	return bundle{title: "coredns", project: "CoreDNS", version: version, module: module, packages: map[string]string{"coredns": module}}
}
