package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"
	kindconfig "sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"github.com/operator-assay/assay/harness/images"
	"github.com/operator-assay/assay/harness/process"
)

// kindTimeout is long enough for an overloaded machine; creating a cluster usually takes half a minute. kubeadm gives
// up after four minutes.
const kindTimeout = 6 * time.Minute

// kind creates clusters whose nodes are containers. It imports kind as a library.
type kind struct {
	options  Options
	stateDir *stateDir
	provider *kindcluster.Provider
}

func newKind(options Options, d *stateDir) *kind {
	return &kind{options: options, stateDir: d, provider: kindcluster.NewProvider(kindcluster.ProviderWithDocker())}
}

// checkName returns an error if the name is used by a cluster that this package has not created.
func (k *kind) checkName() error {
	names, err := k.provider.List()
	if err != nil {
		return withOutput(err)
	}
	if slices.Contains(names, k.options.Name) {
		return fmt.Errorf("kind cluster %q was created by another program: choose another %s, or run `kind delete cluster --name %[1]s`",
			k.options.Name, nameOption)
	}
	return nil
}

func (k *kind) create(ctx context.Context) error {
	engine, err := images.Connect(ctx, k.options.Progress)
	if err != nil {
		return err
	}
	image, err := k.nodeImage(ctx, engine)
	if err != nil {
		return err
	}
	config, err := k.config(ctx, engine)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, kindTimeout, fmt.Errorf("it took longer than %s", kindTimeout))
	defer cancel()
	defer k.options.log().During(func() string { return "starting the nodes" })()
	if err = k.runCreate(ctx, image, config); err == nil {
		err = waitReady(ctx, k.stateDir.kubeconfig(), k.options.Nodes, "coredns")
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil:
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("kind did not start: %w", err)
	}
	return nil
}

// nodeImage returns the node image from the options or a default one. It pulls or builds the image if necessary.
func (k *kind) nodeImage(ctx context.Context, engine *images.Engine) (string, error) {
	if asked := k.options.NodeImage; asked != "" {
		if err := engine.Pull(ctx, asked); err != nil {
			return "", fmt.Errorf("cannot pull %s: %w", nodeImageOption, err)
		}
		return asked, nil
	}
	image, err := engine.NodeImage(ctx, k.options.KubernetesVersion)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("no node image for Kubernetes %s: %w: set %s to a node image that you have", k.options.KubernetesVersion, err, nodeImageOption)
	}
	return image, err
}

// config sets failCgroupV1 only on hosts with cgroup v1, because newer kubelets may not have that field.
func (k *kind) config(ctx context.Context, engine *images.Engine) (*kindconfig.Cluster, error) {
	config := &kindconfig.Cluster{Nodes: slices.Repeat([]kindconfig.Node{{Role: kindconfig.WorkerRole}}, k.options.Nodes)}
	config.Nodes[0].Role = kindconfig.ControlPlaneRole
	version, err := engine.Run(ctx, "info", "--format={{.CgroupVersion}}")
	if err != nil {
		return nil, err
	}
	if version == "1" {
		config.KubeadmConfigPatches = []string{"kind: KubeletConfiguration\nfailCgroupV1: false\n"}
	}
	return config, nil
}

// lateContainers is how long the Docker engine may take to create a container after the docker command was killed.
const lateContainers = 2 * time.Second

// runCreate creates the cluster. kind's library does not accept a context, so runCreate deletes the containers when ctx
// is done, which makes the library return.
func (k *kind) runCreate(ctx context.Context, image string, config *kindconfig.Cluster) error {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = k.provider.Create(k.options.Name,
			kindcluster.CreateWithV1Alpha4Config(config),
			kindcluster.CreateWithNodeImage(image),
			kindcluster.CreateWithKubeconfigPath(k.stateDir.kubeconfig()),
			kindcluster.CreateWithDisplayUsage(false),
			kindcluster.CreateWithDisplaySalutation(false),
		)
	}()
	select {
	case <-done:
	case <-ctx.Done(): // delete repeatedly, because kind may create more containers after a deletion
		utilwait.Until(func() { _ = k.provider.Delete(k.options.Name, k.stateDir.kubeconfig()) }, time.Second, done)
	}
	if ctx.Err() != nil {
		time.Sleep(lateContainers) // so that the caller can remove all containers
	}
	return withOutput(err)
}

func (k *kind) remove(context.Context) error {
	return withOutput(k.provider.Delete(k.options.Name, k.stateDir.kubeconfig()))
}

// LoadIntoKind loads an image onto the nodes of a kind cluster. For each node, open returns a `docker save` archive.
func LoadIntoKind(ctx context.Context, cluster, image string, open func() (io.ReadCloser, error)) error {
	all, err := kindcluster.NewProvider(kindcluster.ProviderWithDocker()).ListInternalNodes(cluster)
	if err != nil {
		return withOutput(err)
	}
	for _, node := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		archive, err := open()
		if err != nil {
			return err
		}
		err = nodeutils.LoadImageArchive(node, archive)
		archive.Close()
		if err != nil {
			return fmt.Errorf("loading %s into node %s: %w", image, node, withOutput(err))
		}
	}
	return nil
}

func (k *kind) exportLogs(_ context.Context, dir string) error {
	return withOutput(k.provider.CollectLogs(k.options.Name, dir))
}

// withOutput adds the failed command's output to an error from kind.
func withOutput(err error) error {
	failed := kindexec.RunErrorForError(err)
	if failed == nil {
		return err
	}
	said := process.LastErrorIn(string(failed.Output))
	if said == process.NoSpace {
		return fmt.Errorf("%s: free disk space for the Docker engine; `docker system df` shows the usage", said)
	}
	return errors.New(said)
}
