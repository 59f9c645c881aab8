package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/terminal"
)

// Options describes a cluster. The zero value is a local cluster. A kept cluster is reused only if its options match.
type Options struct {
	// Provider defaults to Auto.
	Provider Provider `json:"provider"`
	// Name distinguishes the cluster from the user's other clusters. It consists of up to 40 lower-case letters, digits
	// and dashes. Defaults to "assay", or "existing" for an existing cluster.
	Name string `json:"name"`
	// Context is the context in the user's kubeconfig for an Existing cluster. It has no default, so that tests never
	// run against a cluster by mistake.
	Context string `json:"context,omitempty"`
	// Nodes is the number of nodes. Defaults to 1 for Kind and 2 for KWOK. The first node of a Kind
	// cluster is the control plane, which only runs Pods if it is the only node.
	Nodes int `json:"nodes,omitempty"`
	// NodeImage is the node image for Kind. Defaults to kindest/node for the Kubernetes version. If that image is not
	// available, package images builds one.
	NodeImage string `json:"nodeImage,omitempty"`
	// KubernetesVersion is the Kubernetes version for Kind and KWOK, with or without a leading v. Defaults to the
	// environment variable K8S_VERSION or to binaries.DefaultVersion.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// PodsPerNode is the number of Pods that a KWOK node can run. Defaults to 110, like a kubelet.
	PodsPerNode int `json:"podsPerNode,omitempty"`
	// AuditPolicy is an audit.k8s.io/v1 Policy for the API server of a KWOK cluster, as YAML in block style. By
	// default, the API server writes no audit log.
	AuditPolicy string `json:"auditPolicy,omitempty"`
	// Progress receives progress messages. If it is nil, the messages are discarded.
	Progress io.Writer `json:"-"`
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// OptionError is returned for invalid Options, before anything is created.
type OptionError struct{ error }

func optionErrorf(format string, args ...any) error { return OptionError{fmt.Errorf(format, args...)} }

func (o Options) complete(ctx context.Context) (Options, error) {
	if o.Context != "" && o.Provider != Existing {
		return o, optionErrorf("%s %s requires an existing cluster: set %s to existing, or remove the context",
			contextOption, o.Context, providerOption)
	}
	if o.Nodes < 0 {
		return o, optionErrorf("invalid %s %d: use a positive number", nodesOption, o.Nodes)
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
		o.log().Printf("%s, %s", chosen, reason)
	}
	if chosen != KWOK && (o.PodsPerNode != 0 || o.AuditPolicy != "") {
		return o, optionErrorf("provider %s does not support AuditPolicy or PodsPerNode: use kwok", chosen)
	}
	if chosen != Kind {
		o.NodeImage = ""
	}
	o.PodsPerNode = cmp.Or(o.PodsPerNode, 110)
	o.Nodes = cmp.Or(o.Nodes, map[Provider]int{Kind: 1, KWOK: 2}[chosen])
	return o, nil
}

func (o Options) name() (string, error) {
	switch {
	case o.Name == "" && o.Provider == Existing:
		return "existing", nil
	case o.Name == "":
		return "assay", nil
	case !namePattern.MatchString(o.Name):
		return "", optionErrorf("invalid %s %q: use at most 40 lower-case letters, digits and dashes", nameOption, o.Name)
	}
	return o.Name, nil
}

func (o Options) log() *terminal.Log { return terminal.NewLog("cluster", o.Progress) }

// Option names for error messages. Each contains the `assay cluster` flag and the environment variable.
const (
	providerOption  = "--provider (E2E_PROVIDER)"
	nameOption      = "--name (E2E_CLUSTER)"
	contextOption   = "--context (E2E_CONTEXT)"
	nodesOption     = "--nodes (E2E_NODES)"
	nodeImageOption = "--node-image (E2E_NODE_IMAGE)"
)

// FromEnvironment reads Options from E2E_PROVIDER, E2E_CLUSTER, E2E_CONTEXT, E2E_NODES, E2E_NODE_IMAGE and
// K8S_VERSION. Open applies the defaults for unset variables.
func FromEnvironment() (Options, error) {
	options := Options{
		Provider:          Provider(os.Getenv("E2E_PROVIDER")),
		Name:              os.Getenv("E2E_CLUSTER"),
		Context:           os.Getenv("E2E_CONTEXT"),
		NodeImage:         os.Getenv("E2E_NODE_IMAGE"),
		KubernetesVersion: os.Getenv("K8S_VERSION"),
	}
	if nodes := os.Getenv("E2E_NODES"); nodes != "" {
		number, err := strconv.Atoi(nodes)
		if err != nil || number < 1 {
			return Options{}, optionErrorf("invalid E2E_NODES=%s: use a positive number", nodes)
		}
		options.Nodes = number
	}
	return options, nil
}
