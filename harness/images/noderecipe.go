package images

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"github.com/operator-assay/assay/harness/binaries"
)

const (
	// kindVersion must be the version of sigs.k8s.io/kind in go.mod.
	kindVersion   = "v0.33.0"
	debianRelease = "bookworm"
	sandboxImage  = "localhost/assay/pause:1"
)

// nodePackages are the packages that kind's images/base/Dockerfile installs, without those for network storage and rootless
// engines, but with an init system and runc, which kind gets from elsewhere.
var nodePackages = []string{
	"systemd", "systemd-sysv", "dbus",
	"conntrack", "iptables", "nftables", "iproute2", "ethtool", "socat", "kmod", "mount", "util-linux",
	"bash", "ca-certificates", "curl", "jq", "procps", "pigz", "e2fsprogs",
	"runc",
}

// nodeRecipe is the part of this package that determines the content of a node image.
//
//go:embed node*.go node
var nodeRecipe embed.FS

// nodeImageName returns the name of the node image for a Kubernetes version. The tag ends with a hash of the recipe, so
// that a changed recipe results in a new image.
func nodeImageName(version string) string {
	return fmt.Sprintf("assay/kind-node:%s-%s", version, fingerprint(nodeRecipe))
}

func fingerprint(folder fs.FS) string {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOARCH, binaries.ContainerdVersion, binaries.CrictlVersion, binaries.CNIPluginsVersion)
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4])
}

func nodeFile(name string) string {
	content, err := nodeRecipe.ReadFile("node/" + name)
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return string(content)
}
