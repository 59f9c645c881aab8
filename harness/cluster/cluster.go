package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// answerTimeout limits the first request to an API server. A working API server responds within milliseconds.
const answerTimeout = 10 * time.Second

const removeTimeout = 2 * time.Minute

// Cluster is a running cluster with ready nodes. Pods can be created in its default namespace.
type Cluster struct {
	// Provider is the cluster provider. It is never Auto.
	Provider Provider
	Name     string
	// Kubeconfig is the path of a private kubeconfig with a single context. It authenticates as the administrator, or
	// as the user for an Existing cluster. Its directory is removed together with the cluster.
	Kubeconfig string
	// Config is the rest.Config of Kubeconfig, without a client-side rate limit.
	Config *rest.Config
	// Version is the Kubernetes version of the API server, such as v1.37.0.
	Version string
	// AuditLog is the path of the API server's audit log. Each line is an audit.k8s.io/v1 Event in JSON. It is empty
	// if Options.AuditPolicy is not set.
	AuditLog string
	// Reused is true if the cluster existed before Open was called: a kept cluster or an Existing one.
	Reused bool

	stateDir *stateDir
	provider provider
	state    state
}

// provider creates and removes clusters. If create fails, the caller must call remove to clean up. remove returns no
// error if the cluster does not exist.
type provider interface {
	create(ctx context.Context) error
	remove(ctx context.Context) error
	exportLogs(ctx context.Context, dir string) error
}

func providerFor(provider Provider, options Options, d *stateDir) provider {
	switch provider {
	case Kind:
		return newKind(options, d)
	case KWOK:
		return &kwok{options: options, stateDir: d}
	}
	return &existing{options: options, stateDir: d}
}

// Open returns the cluster that the options describe. It reuses a kept cluster if its API server is available, and
// creates a new one otherwise. Creating a cluster takes seconds with KWOK and about half a minute with kind. It takes
// several minutes longer if executables or a node image must be built.
//
// If ctx is canceled or a component fails, Open removes everything that it has created. It keeps the kubeconfig of a
// kept Existing cluster. The caller must call Close, because the cluster name is locked until then.
func Open(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := lockStateDir(options.Name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Provider:   options.Provider,
		Name:       options.Name,
		Kubeconfig: dir.kubeconfig(),
		stateDir:   dir,
		provider:   providerFor(options.Provider, options, dir),
		state:      state{Options: options, Format: stateFormat},
	}
	c.state.Progress = nil // do not compare it with the options of a kept cluster
	if k, isKWOK := c.provider.(*kwok); isKWOK && options.AuditPolicy != "" {
		c.AuditLog = k.auditLog()
	}
	if err := c.reuseOrCreate(ctx, options); err != nil {
		return nil, errors.Join(err, dir.unlock())
	}
	return c, nil
}

// create creates the cluster. It first removes files that an interrupted removal left behind, but not for an Existing
// cluster, because KUBECONFIG may point to one of them. It then writes the state file, so that the next run can clean
// up if this process is killed.
func (c *Cluster) create(ctx context.Context) error {
	if strings.Contains(c.Kubeconfig, ":") || c.Provider == KWOK && strings.ContainsAny(c.Kubeconfig, `,"#%`) {
		return fmt.Errorf("KUBECONFIG and kwok do not support the path %s: set XDG_CACHE_HOME to a directory without any of : , \" # %%", c.Kubeconfig)
	}
	if k, isKind := c.provider.(*kind); isKind {
		if err := k.checkName(); err != nil {
			return err
		}
	}
	var err error
	if c.Provider != Existing {
		err = c.stateDir.removeAll()
	}
	if err = errors.Join(err, c.stateDir.write(c.state)); err == nil {
		err = c.provider.create(ctx)
	}
	if err == nil {
		err = c.connect(ctx)
	}
	if err == nil {
		c.Reused = c.Provider == Existing
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if c.Provider == Existing && c.state.Kept { // KUBECONFIG may name the kubeconfig
		return err
	}
	return errors.Join(err, c.remove(ctx))
}

func (c *Cluster) connect(ctx context.Context) error {
	config, err := configOf(c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // rely on API Priority and Fairness
	asked := rest.CopyConfig(config)
	asked.Timeout = answerTimeout
	client, err := discovery.NewDiscoveryClientForConfig(asked)
	if err != nil {
		return err
	}
	version, err := client.ServerVersionWithContext(ctx)
	if err != nil {
		return fmt.Errorf("the API server is not available: %w", err)
	}
	c.Config, c.Version = config, version.GitVersion
	return nil
}

// Load loads the images in an archive, as written by `docker save`, onto every node of a kind cluster.
func (c *Cluster) Load(ctx context.Context, archive string) error {
	if c.Provider != Kind {
		return fmt.Errorf("images can only be loaded into a kind cluster, and this is provider %s: push them to a registry that it can reach", c.Provider)
	}
	return LoadIntoKind(ctx, c.Name, filepath.Base(archive), func() (io.ReadCloser, error) { return os.Open(archive) })
}

// DiscoverKinds makes the garbage collector discover newly installed CRDs immediately. By default, the garbage
// collector discovers kinds every 30s, and does not delete the children of a resource whose kind it has not discovered.
// DiscoverKinds restarts the controller-manager of a KWOK cluster. It does nothing for other providers, because a new
// controller-manager would have to wait until the Lease of the old one expires.
func (c *Cluster) DiscoverKinds(ctx context.Context) error {
	if k, isKWOK := c.provider.(*kwok); isKWOK {
		return k.discoverKinds(ctx)
	}
	return nil
}

// ExportLogs writes the logs of the components to a directory: the node logs for kind, and the process logs for KWOK.
// It writes nothing for an Existing cluster.
func (c *Cluster) ExportLogs(ctx context.Context, dir string) error {
	return c.provider.exportLogs(ctx, dir)
}

// Close releases the lock on the cluster name. It removes the cluster, unless keep is true or an earlier run has kept
// the cluster. A kept cluster can be reused by Open until Delete is called. An Existing cluster is never removed. Do
// not call any other method after Close.
func (c *Cluster) Close(ctx context.Context, keep bool) error {
	var err error
	switch {
	case c.state.Kept:
	case keep:
		c.state.Kept = true
		err = c.stateDir.write(c.state)
	default:
		err = c.remove(ctx)
	}
	return errors.Join(err, c.stateDir.unlock())
}

// remove removes the cluster and its state, even if ctx is done.
func (c *Cluster) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := c.provider.remove(ctx); err != nil {
		return fmt.Errorf("cannot remove cluster %q: %w", c.Name, err)
	}
	return c.stateDir.removeAll()
}

// Delete removes the cluster named in the options, even if Close has kept it. It returns no error if the cluster does
// not exist. For an Existing cluster, it only removes the private kubeconfig. Options such as Nodes are ignored.
func Delete(ctx context.Context, options Options) (err error) {
	if options.Name, err = options.name(); err != nil {
		return err
	}
	dir, err := lockStateDir(options.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.unlock()) }()
	found, err := dir.read()
	if err != nil {
		return err
	}
	if found == nil {
		options.log().Printf("cluster %q does not exist", options.Name)
		return dir.removeAll()
	}
	provider := found.Provider
	c := &Cluster{Name: options.Name, stateDir: dir, provider: providerFor(provider, options, dir)}
	if err := c.remove(ctx); err != nil {
		return err
	}
	options.log().Printf("deleted %s cluster %q", provider, options.Name)
	return nil
}
