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
	// kindVersion is that of the module whose files make a root a node. It is the one that this repository's go.mod
	// requires.
	kindVersion = "v0.33.0"
	// debianRelease is what a node's root is made of.
	debianRelease = "bookworm"
	// sandboxImage is what containerd starts for a Pod before its containers.
	sandboxImage = "localhost/assay/pause:1"
)

// nodePackages are what kind's images/base/Dockerfile installs, less what serves network storage and rootless engines,
// plus what that gets from elsewhere: an init and runc.
var nodePackages = []string{
	"systemd", "systemd-sysv", "dbus",
	"conntrack", "iptables", "nftables", "iproute2", "ethtool", "socat", "kmod", "mount", "util-linux",
	"bash", "ca-certificates", "curl", "jq", "procps", "pigz", "e2fsprogs",
	"runc",
}

// nodeRecipe is everything of this package that a node's image depends on. Its folder node has what is laid over the
// root, and the scripts that make it a node.
//
//go:embed node*.go node
var nodeRecipe embed.FS

// nodeImageName is the name of the image of a Kubernetes version. The end of its tag stands for the recipe, so that a
// changed one makes another image.
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
		panic(err) // what is embedded can be read
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4])
}

// nodeFile returns the text of an embedded file of the folder node.
func nodeFile(name string) string {
	content, err := nodeRecipe.ReadFile("node/" + name)
	if err != nil {
		panic(err) // what is embedded can be read
	}
	return string(content)
}
