package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/terminal"
)

// maxNodes is more than tests need, and as many as a machine may run.
const maxNodes = 10

// Options describe a cluster. The zero value is a cluster on this machine.
type Options struct {
	// Provider is where the cluster comes from; an empty one means Auto.
	Provider Provider
	// Name tells the cluster from others of the same user. It consists of at most 40 lower-case
	// letters, digits and dashes. The default is "assay"; for an existing cluster, "existing".
	Name string
	// Context is the context of the user's kubeconfig that an Existing cluster is reached by. There is no default, so that
	// no test runs on a cluster by mistake.
	Context string
	// Nodes is how many nodes there are, 1 to 10. The default is 1 on Kind and 2 on KWOK. On Kind, the
	// first is the control plane, and takes Pods only if it is alone.
	Nodes int
	// NodeImage is what Kind's nodes are made from. The default is kindest/node of the Kubernetes
	// version; where no registry has that, package images builds one.
	NodeImage string
	// KubernetesVersion is what Kind and KWOK run, with or without its leading v. The default is the
	// environment variable K8S_VERSION, or else binaries.DefaultVersion.
	KubernetesVersion string
	// PodsPerNode is how many Pods a node of KWOK takes. The default is 110, as on a kubelet.
	PodsPerNode int
	// AuditPolicy is what the API server of KWOK is to note of requests, as the YAML of an
	// audit.k8s.io/v1 Policy in block style. By default it notes nothing.
	AuditPolicy string
	// Progress gets a line for each decision and each step that takes long; nil discards them.
	Progress io.Writer
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// OptionError is the error of invalid Options. Nothing has been created then.
type OptionError struct{ error }

func optionErrorf(format string, args ...any) error { return OptionError{fmt.Errorf(format, args...)} }

// complete returns the options with their defaults, or what is wrong with them.
func (o Options) complete(ctx context.Context) (Options, error) {
	if o.Context != "" && o.Provider != Existing {
		return o, optionErrorf("%s is %s, the context of an existing cluster: set %s to existing as well, or no context",
			contextOption, o.Context, providerOption)
	}
	if o.Nodes < 0 || o.Nodes > maxNodes {
		return o, optionErrorf("%s is %d: set a number from 1 to %d", nodesOption, o.Nodes, maxNodes)
	}
	var err error
	if o.Name, err = o.name(); err != nil {
		return o, err
	}
	if o.KubernetesVersion, err = binaries.ResolveVersion(o.KubernetesVersion); err != nil {
		return o, OptionError{err}
	}
	chosen, reason, err := Choose(ctx, string(o.Provider))
	if err != nil {
		return o, err
	}
	if o.Provider != chosen {
		o.Provider = chosen
		o.logf("%s, %s", chosen, reason)
	}
	if chosen != KWOK && (o.PodsPerNode != 0 || o.AuditPolicy != "") {
		return o, optionErrorf("the provider is %s: an audit policy and a number of Pods per node are for kwok only", chosen)
	}
	o.PodsPerNode = cmp.Or(o.PodsPerNode, 110)
	o.Nodes = cmp.Or(o.Nodes, map[Provider]int{Kind: 1, KWOK: 2}[chosen])
	return o, nil
}

// name returns the cluster's name, which is also that of its folder.
func (o Options) name() (string, error) {
	switch {
	case o.Name == "" && o.Provider == Existing:
		return "existing", nil
	case o.Name == "":
		return "assay", nil
	case !namePattern.MatchString(o.Name):
		return "", optionErrorf("%s is %s: set a name of at most 40 lower-case letters, digits and dashes", nameOption, o.Name)
	}
	return o.Name, nil
}

// logf writes a line of progress.
func (o Options) logf(format string, args ...any) {
	terminal.NewLog("cluster", o.Progress).Printf(format, args...)
}
