package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// answerTimeout is for an API server, which answers in milliseconds when all is well.
const answerTimeout = 10 * time.Second

// removeTimeout bounds the removal of what an interrupted run has created.
const removeTimeout = 2 * time.Minute

// Cluster is a cluster that answers, whose nodes are ready, and in whose default namespace Pods can be
// created.
type Cluster struct {
	// Provider is where it comes from, never Auto.
	Provider Provider
	// Name tells it from others of the same user.
	Name string
	// Kubeconfig is the path of a private file with one context, the administrator's; for an Existing
	// cluster, that of the user. Its folder is the cluster's own, and goes with it.
	Kubeconfig string
	// Config is what Kubeconfig says, without a client-side rate limit.
	Config *rest.Config
	// Version is that of Kubernetes, as the API server says: v1.37.0.
	Version string
	// AuditLog is the path of the file in which the API server notes requests as Options.AuditPolicy has
	// it: an audit.k8s.io/v1 Event in JSON on each line. Empty without such a policy.
	AuditLog string
	// Reused is true for a cluster that was there before: one that was kept, or an Existing one.
	Reused bool

	stateDir *stateDir
	provider provider
	state    state
}

// provider creates and removes the clusters of one provider. What a failed create has created is left to remove.
type provider interface {
	// nameAvailable returns an error if there is a cluster of the name that was not created here.
	nameAvailable(ctx context.Context) error
	// create creates the cluster and writes its kubeconfig.
	create(ctx context.Context) error
	// remove removes the cluster, as far as there is one. An abandoned one is of a create that was interrupted, parts of
	// which may still appear.
	remove(ctx context.Context, abandoned bool) error
	load(ctx context.Context, archive string) error
	discoverKinds(ctx context.Context) error
	exportLogs(ctx context.Context, dir string) error
}

func providerFor(provider Provider, options Options, d *stateDir) provider {
	switch provider {
	case Kind:
		return newKind(options, d)
	case KWOK:
		return &kwok{options: options, stateDir: d}
	default:
		return &existing{options: options, stateDir: d}
	}
}

// Open returns the cluster that options describe. A kept one whose API server answers is reused. Else it is created, which
// takes seconds on kwok, about half a minute on kind, and some minutes more when binaries or a node image must be built.
//
// When ctx ends early or a part fails, nothing is left behind. The error says in a line what a user can
// do. Close the cluster in the end: until then, its name is taken.
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
		state:      state{Configuration: options.configuration()},
	}
	if options.AuditPolicy != "" {
		c.AuditLog = (&kwok{options: options, stateDir: dir}).auditLog()
	}
	if err := c.open(ctx, options); err != nil {
		return nil, errors.Join(err, dir.unlock())
	}
	return c, nil
}

func (c *Cluster) open(ctx context.Context, options Options) error {
	found, err := c.stateDir.read()
	if err != nil {
		return err
	}
	c.state.Kept = found != nil && found.Kept
	switch {
	case found == nil || found.Configuration.Provider == Existing: // which has only a kubeconfig, that is written again
		return c.create(ctx)
	case !found.Kept:
		options.logf("replacing the %s cluster %q, which a run has left that was killed", found.Configuration.Provider, c.Name)
	case found.Configuration != c.state.Configuration:
		return fmt.Errorf("the kept cluster %q is %s: delete it by `assay cluster down`, or choose another %s",
			c.Name, found.Configuration.diff(c.state.Configuration), nameOption)
	default:
		err := c.connect(ctx)
		if err == nil {
			c.Reused = true
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		options.logf("replacing the kept %s cluster %q: %s", c.Provider, c.Name, err)
	}
	c.state.Kept = false
	if err := providerFor(found.Configuration.Provider, options, c.stateDir).remove(ctx, !found.Kept); err != nil {
		return fmt.Errorf("the %s cluster %q is in the way and cannot be removed: choose another %s, or see to this: %w",
			found.Configuration.Provider, c.Name, nameOption, err)
	}
	if err := c.stateDir.removeAll(); err != nil {
		return err
	}
	return c.create(ctx)
}

// create makes the cluster. The record comes first, so that the next run knows what this one has
// left, should it be killed.
func (c *Cluster) create(ctx context.Context) error {
	if err := c.provider.nameAvailable(ctx); err != nil {
		return err
	}
	err := c.stateDir.write(c.state)
	if err == nil {
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
	return errors.Join(err, c.remove(ctx, true))
}

// connect fills in what the kubeconfig and the API server say.
func (c *Cluster) connect(ctx context.Context) error {
	config, err := configOf(c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // the server's priority and fairness is the limit that counts
	asking, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("nothing came within %s", answerTimeout))
	defer cancel()
	asked := rest.CopyConfig(config)
	asked.Timeout = answerTimeout
	client, err := discovery.NewDiscoveryClientForConfig(asked)
	if err != nil {
		return err
	}
	version, err := client.ServerVersionWithContext(asking)
	if asking.Err() != nil {
		err = context.Cause(asking)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the address once more
	}
	if err != nil {
		return fmt.Errorf("no API server answers at %s: %w", config.Host, err)
	}
	c.Config, c.Version = config, version.GitVersion
	return nil
}

// Load puts the images of an archive, as `docker save` writes them, on every node. Only kind can.
func (c *Cluster) Load(ctx context.Context, archive string) error {
	return c.provider.load(ctx, archive)
}

// DiscoverKinds has the garbage collector look for kinds now. It does so every 30 s only, and deletes nothing until it knows
// the owner's kind: call this when CRDs have been installed, if nothing shall wait for that. On kwok, the
// controller-manager is started again. Elsewhere nothing is done.
func (c *Cluster) DiscoverKinds(ctx context.Context) error {
	return c.provider.discoverKinds(ctx)
}

// ExportLogs writes the logs of the cluster's own parts to a folder, which it creates if need be: those of kind's nodes, or
// of kwok's processes; none of an Existing cluster. It exports what it can if a part fails.
func (c *Cluster) ExportLogs(ctx context.Context, dir string) error {
	return c.provider.exportLogs(ctx, dir)
}

// Close unlocks the cluster's name. With keep, the cluster stays for the next Open; one that was kept before stays anyway,
// until Delete; others are removed. Nothing in an Existing cluster is changed. Call no other method afterwards.
func (c *Cluster) Close(ctx context.Context, keep bool) error {
	var err error
	switch {
	case c.state.Kept:
	case keep:
		c.state.Kept = true
		err = c.stateDir.write(c.state)
	default:
		err = c.remove(ctx, false)
	}
	return errors.Join(err, c.stateDir.unlock())
}

// remove removes the cluster and its state, also when ctx has ended.
func (c *Cluster) remove(ctx context.Context, abandoned bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := c.provider.remove(ctx, abandoned); err != nil {
		return fmt.Errorf("the cluster %q cannot be removed: %w", c.Name, err)
	}
	return c.stateDir.removeAll()
}

// Delete removes the cluster of the options' name, kept or not. It is no error if there is none. Of an Existing one, only the
// private kubeconfig is removed. Other options do not matter.
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
		options.logf("nothing to delete: there is no cluster %q", options.Name)
		return dir.removeAll()
	}
	provider := found.Configuration.Provider
	c := &Cluster{Name: options.Name, stateDir: dir, provider: providerFor(provider, options, dir)}
	if err := c.remove(ctx, !found.Kept); err != nil {
		return err
	}
	options.logf("deleted the %s cluster %q", provider, options.Name)
	return nil
}
