package images

import (
	"embed"
	"fmt"
	"runtime"

	"github.com/operator-assay/assay/harness/binaries"
)

const (
	// kindVersion must be the version of sigs.k8s.io/kind in go.mod.
	kindVersion   = "v0.33.0"
	debianRelease = "bookworm"
	sandboxImage  = "localhost/assay/pause:1"
)

// nodePackages are the packages that kind's images/base/Dockerfile installs, except those for network storage and
// rootless engines. An init system and runc are added, because kind gets them from other sources.
var nodePackages = []string{
	"systemd", "systemd-sysv", "dbus",
	"conntrack", "iptables", "nftables", "iproute2", "ethtool", "socat", "kmod", "mount", "util-linux",
	"bash", "ca-certificates", "curl", "jq", "procps", "pigz", "e2fsprogs",
	"runc",
}

// nodeRecipe contains the files of this package that determine the content of a node image.
//
//go:embed node*.go node
var nodeRecipe embed.FS

// nodeImageName returns the name of the node image for a Kubernetes version. The tag ends with a hash of the recipe, so
// that a changed recipe results in a new image.
func nodeImageName(version string) (string, error) {
	recipe, err := hash(fmt.Sprintln(runtime.GOARCH, binaries.ContainerdVersion, binaries.CrictlVersion, binaries.CNIPluginsVersion), nodeRecipe)
	return fmt.Sprintf("assay/kind-node:%s-%s", version, recipe), err
}

func nodeFile(name string) string {
	content, err := nodeRecipe.ReadFile("node/" + name)
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return string(content)
}
