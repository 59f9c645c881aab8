package cluster

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/images"
)

func TestKubeletPatchForCgroupV1(t *testing.T) {
	for version, patches := range map[string]int{"1": 1, "2": 0} {
		fakeDocker(t, `test "$1" = info && echo `+version+` || echo linux amd64 1.41`)
		config, err := newKind(Options{Nodes: 3}, &stateDir{}).config(t.Context(), engine(t))
		noError(t, err)
		if len(config.KubeadmConfigPatches) != patches || len(config.Nodes) != 3 || config.Nodes[0].Role == config.Nodes[1].Role {
			t.Errorf("cgroup v%s: got configuration %+v, want %d patches", version, config, patches)
		}
	}
}

func TestUnavailableNodeImage(t *testing.T) {
	fakeDocker(t, `test "$1" = version && exec echo linux amd64 1.41; test "$1" = pull && echo 'Error response from daemon: Get "https://example.com/v2/": no such host' >&2; exit 1`)
	k := newKind(Options{NodeImage: "example.com/node:1", Progress: t.Output()}, &stateDir{})
	_, err := k.nodeImage(t.Context(), engine(t))
	expectRefusal(t, err, `cannot pull --node-image (E2E_NODE_IMAGE): example.com does not serve example.com/node:1: docker pull: Error response from daemon: Get "https://example.com/v2/": no such host`)
}

func TestFullDisk(t *testing.T) {
	clusters := own(t)
	fakeDocker(t, `case "$1" in
version) echo linux amd64 1.41 ;;
info) case "$*" in *CgroupVersion*) echo 2 ;; *) echo '{}' ;; esac ;;
image) echo amd64 ;;
ps|inspect|network) ;;
*) echo 'docker: Error response from daemon: mkdir /x: no space left on device.' >&2; echo "See 'docker run --help'." >&2; exit 125 ;;
esac`)
	_, err := Open(t.Context(), Options{Provider: Kind, NodeImage: "example.com/node:1"})
	expectRefusal(t, err, "kind did not start: no space left on device", "docker system df")
	expectNothing(t, clusters)
}

func engine(t *testing.T) *images.Engine {
	t.Helper()
	e, err := images.Connect(t.Context(), t.Output())
	if err != nil {
		t.Skip(err)
	}
	return e
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := engine(t).Run(context.WithoutCancel(t.Context()), args...)
	noError(t, err)
	return out
}

// kindOptions returns options with a node image that was built for an earlier cluster. It skips the test if the engine
// has no such image, because building one takes minutes.
func kindOptions(t *testing.T) Options {
	t.Helper()
	built := docker(t, "images", "--format={{.Repository}}:{{.Tag}}", "assay/kind-node")
	image, _, _ := strings.Cut(cmp.Or(os.Getenv("E2E_NODE_IMAGE"), built), "\n")
	if image == "" {
		t.Skip("the Docker engine has no node image: run `make node-image`")
	}
	return Options{Provider: Kind, Name: "assay-selftest", NodeImage: image}
}

// expectNoContainers verifies that none of the cluster's containers are left. It removes any that remain and logs
// docker's output, which may explain why they could not be removed earlier.
func expectNoContainers(t *testing.T, options Options) {
	t.Helper()
	left := docker(t, "ps", "-aq", "--filter=label=io.x-k8s.kind.cluster="+options.Name)
	if left == "" {
		return
	}
	output, err := exec.CommandContext(t.Context(), "docker", append([]string{"rm", "--force", "--volumes"}, strings.Fields(left)...)...).CombinedOutput()
	t.Errorf("got remaining containers %s, want none\ndocker rm: %s (%v)", left, strings.TrimSpace(string(output)), err)
}

func TestInterruptedKindLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a Docker engine")
	}
	options := kindOptions(t)
	clusters := own(t)
	ctx, interrupt := context.WithTimeout(t.Context(), 2*time.Second) // ends while the container is starting
	defer interrupt()
	if _, err := Open(ctx, options); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want context.DeadlineExceeded", withOutput(err))
	}
	expectNothing(t, clusters)
	expectNoContainers(t, options)
}

func TestForeignKindClusterIsKept(t *testing.T) {
	clusters := own(t)
	fakeDocker(t, `case "$1" in version) echo linux amd64 1.41 ;; ps) echo theirs ;; *) echo "docker $*" >&2; exit 1 ;; esac`)
	_, err := Open(t.Context(), Options{Provider: Kind, Name: "theirs"})
	expectRefusal(t, err, `kind cluster "theirs" was created by another program`, nameOption)
	expectNothing(t, clusters)
}
