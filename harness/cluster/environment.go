package cluster

import (
	"os"
	"strconv"
)

const (
	providerVariable  = "E2E_PROVIDER"   // auto, kind, kwok or existing; defaults to auto
	clusterVariable   = "E2E_CLUSTER"    // the name of the cluster; defaults to assay
	contextVariable   = "E2E_CONTEXT"    // the kubeconfig context of an existing cluster
	nodesVariable     = "E2E_NODES"      // the number of nodes; defaults to 1 with kind and 2 with kwok
	nodeImageVariable = "E2E_NODE_IMAGE" // the node image for kind; defaults to kindest/node or an image that is built locally
	versionVariable   = "K8S_VERSION"    // the Kubernetes version for kind and kwok; defaults to binaries.DefaultVersion
)

// Option names for error messages. Each contains the `assay cluster` flag and the environment variable.
const (
	providerOption  = "--provider (" + providerVariable + ")"
	nameOption      = "--name (" + clusterVariable + ")"
	contextOption   = "--context (" + contextVariable + ")"
	nodesOption     = "--nodes (" + nodesVariable + ")"
	nodeImageOption = "--node-image (" + nodeImageVariable + ")"
)

// FromEnvironment reads Options from E2E_PROVIDER, E2E_CLUSTER, E2E_CONTEXT, E2E_NODES, E2E_NODE_IMAGE and
// K8S_VERSION. Open applies the defaults for unset variables.
func FromEnvironment() (Options, error) {
	options := Options{
		Provider:          Provider(os.Getenv(providerVariable)),
		Name:              os.Getenv(clusterVariable),
		Context:           os.Getenv(contextVariable),
		NodeImage:         os.Getenv(nodeImageVariable),
		KubernetesVersion: os.Getenv(versionVariable),
	}
	if nodes := os.Getenv(nodesVariable); nodes != "" {
		number, err := strconv.Atoi(nodes)
		if err != nil || number < 1 {
			return Options{}, optionErrorf("invalid %s=%s: use a positive number", nodesVariable, nodes)
		}
		options.Nodes = number
	}
	return options, nil
}
