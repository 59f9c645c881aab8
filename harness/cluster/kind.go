package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"
	kindconfig "sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	kindnodes "sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"github.com/operator-assay/assay/harness/images"
	"github.com/operator-assay/assay/harness/process"
)

// kindTimeout is for an overloaded machine; elsewhere a cluster takes half a minute. kubeadm gives up after four minutes.
const kindTimeout = 6 * time.Minute

// kind creates clusters whose nodes are containers, by kind's own library.
type kind struct {
	options  Options
	stateDir *stateDir
	provider *kindcluster.Provider
}

func newKind(options Options, d *stateDir) *kind {
	return &kind{
		options:  options,
		stateDir: d,
		provider: kindcluster.NewProvider(kindcluster.ProviderWithDocker(), kindcluster.ProviderWithLogger(kindLogger{tell: options.logf})),
	}
}

func (k *kind) nameAvailable(context.Context) error {
	names, err := k.provider.List()
	if err != nil {
		return withOutput(err)
	}
	if slices.Contains(names, k.options.Name) {
		return fmt.Errorf("a kind cluster %q exists that was not made here: choose another %s, or `kind delete cluster --name %[1]s`",
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
	for _, step := range []func() error{
		func() error { return k.runCreate(ctx, image, config) },
		func() error {
			k.options.logf("waiting until it is ready")
			return waitReady(ctx, k.stateDir.kubeconfig(), k.options.Nodes, "coredns")
		},
	} {
		err := step()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("kind did not start: %w", err)
		}
	}
	return nil
}

// nodeImage returns an image that the engine has: the one that is asked for, or kind's own, or one that is built here.
func (k *kind) nodeImage(ctx context.Context, engine *images.Engine) (string, error) {
	if asked := k.options.NodeImage; asked != "" {
		if err := engine.Pull(ctx, asked); err != nil {
			return "", fmt.Errorf("%s cannot be had: %w", nodeImageOption, err)
		}
		return asked, nil
	}
	image, err := engine.NodeImage(ctx, k.options.KubernetesVersion)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("no node image for Kubernetes %s: %w: set %s to one that you have", k.options.KubernetesVersion, err, nodeImageOption)
	}
	return image, err
}

// config describes the nodes. On hosts with version 1 of control groups, the kubelet runs only with a setting that newer
// ones may not know, so it is set there only.
func (k *kind) config(ctx context.Context, engine *images.Engine) (*kindconfig.Cluster, error) {
	config := &kindconfig.Cluster{}
	for i := range k.options.Nodes {
		role := kindconfig.WorkerRole
		if i == 0 {
			role = kindconfig.ControlPlaneRole
		}
		config.Nodes = append(config.Nodes, kindconfig.Node{Role: role})
	}
	version, err := engine.Run(ctx, "info", "--format={{.CgroupVersion}}")
	if err != nil {
		return nil, err
	}
	if version == "1" {
		config.KubeadmConfigPatches = []string{"kind: KubeletConfiguration\nfailCgroupV1: false\n"}
	}
	return config, nil
}

// runCreate runs kind, whose library takes no context: when ctx ends, its containers are removed until it fails.
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
	case <-ctx.Done(): // kind goes on for minutes if a container appears after the others were removed, so they are removed repeatedly
		utilwait.Until(func() { _ = k.provider.Delete(k.options.Name, k.stateDir.kubeconfig()) }, time.Second, done)
	}
	return withOutput(err)
}

// lateContainers is how long after the end of an interrupted create the Docker engine may still create a container. Tests
// shorten it.
var lateContainers = 2 * time.Second

// remove removes the containers. When a docker command is killed, as by Ctrl-C at a terminal, the engine still creates the
// container that was requested, and nothing reports that. So an abandoned cluster counts as removed when no container has
// appeared for a moment.
func (k *kind) remove(ctx context.Context, abandoned bool) error {
	if err := k.provider.Delete(k.options.Name, k.stateDir.kubeconfig()); err != nil || !abandoned {
		return withOutput(err)
	}
	look := lateContainers / 8
	for quiet := time.Duration(0); quiet < lateContainers && ctx.Err() == nil; quiet += look {
		time.Sleep(look)
		nodes, err := k.provider.ListNodes(k.options.Name)
		if err != nil {
			return withOutput(err)
		}
		if len(nodes) > 0 {
			return k.remove(ctx, abandoned)
		}
	}
	return ctx.Err()
}

func (k *kind) load(ctx context.Context, archive string) error {
	open := func(kindnodes.Node) (io.ReadCloser, error) { return os.Open(archive) }
	return loadIntoNodes(ctx, k.provider, k.options.Name, filepath.Base(archive), open)
}

// LoadIntoKind puts an image on the named nodes of any kind cluster, but not where its id is there already. write writes an
// archive of it, as `docker save` does.
func LoadIntoKind(ctx context.Context, cluster string, names []string, image, id string, write func(io.Writer) error) error {
	provider := kindcluster.NewProvider(kindcluster.ProviderWithDocker())
	return loadIntoNodes(ctx, provider, cluster, image, func(node kindnodes.Node) (io.ReadCloser, error) {
		if !slices.Contains(names, node.String()) {
			return nil, nil
		}
		if has, err := nodeutils.ImageID(node, image); err == nil && has == id {
			return nil, nil
		}
		archive, writer := io.Pipe()
		go func() { writer.CloseWithError(write(writer)) }()
		return archive, nil
	})
}

// opener opens the archive of an image for a node, or returns nil if the node is to be left as it is.
type opener func(kindnodes.Node) (io.ReadCloser, error)

func loadIntoNodes(ctx context.Context, provider *kindcluster.Provider, cluster, image string, open opener) error {
	all, err := provider.ListInternalNodes(cluster)
	if err != nil {
		return withOutput(err)
	}
	for _, node := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		archive, err := open(node)
		if err != nil {
			return err
		}
		if archive == nil {
			continue
		}
		err = nodeutils.LoadImageArchive(node, archive)
		archive.Close()
		if err != nil {
			return fmt.Errorf("loading %s into node %s: %w", image, node, withOutput(err))
		}
	}
	return nil
}

// discoverKinds does nothing: a controller-manager that is started again would wait for the Lease of the one that was killed.
func (k *kind) discoverKinds(context.Context) error { return nil }

func (k *kind) exportLogs(_ context.Context, dir string) error {
	return withOutput(k.provider.CollectLogs(k.options.Name, dir))
}

// withOutput adds the output of the failed command to an error of kind.
func withOutput(err error) error {
	failed := kindexec.RunErrorForError(err)
	if failed == nil {
		return err
	}
	said := dockerErrorIn(string(failed.Output))
	if strings.Contains(said, process.NoSpace) {
		return fmt.Errorf("%s: make room on the disk of the Docker engine, `docker system df` shows what takes it", said)
	}
	return errors.New(said)
}

// dockerErrorIn returns the last line about an error, or else the last line of what docker and kubeadm say.
// They often print usage after the error.
func dockerErrorIn(text string) string {
	found := process.LastErrorIn(text)
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), "error") && !strings.Contains(line, "stack trace of this error") {
			found = strings.TrimSpace(line)
		}
	}
	return strings.TrimPrefix(strings.TrimPrefix(found, "docker: "), "Error response from daemon: ")
}
