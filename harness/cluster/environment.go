package cluster

import (
	"os"
	"strconv"
)

// The environment variables that FromEnvironment reads.
const (
	providerVariable  = "E2E_PROVIDER"   // auto, kind, kwok or existing; default auto
	clusterVariable   = "E2E_CLUSTER"    // the cluster's name; default assay
	contextVariable   = "E2E_CONTEXT"    // the context of an existing cluster
	nodesVariable     = "E2E_NODES"      // how many nodes; default 1 on kind, 2 on kwok
	nodeImageVariable = "E2E_NODE_IMAGE" // the image of kind's nodes; default kindest/node, or one that is built
	versionVariable   = "K8S_VERSION"    // of Kubernetes, on kind and kwok; default binaries.DefaultVersion
)

// What errors call the options: what most users can change is a flag of `assay cluster`, or a variable.
const (
	providerOption  = "--provider (" + providerVariable + ")"
	nameOption      = "--name (" + clusterVariable + ")"
	contextOption   = "--context (" + contextVariable + ")"
	nodesOption     = "--nodes (" + nodesVariable + ")"
	nodeImageOption = "--node-image (" + nodeImageVariable + ")"
)

// FromEnvironment reads Options from E2E_PROVIDER, E2E_CLUSTER, E2E_CONTEXT, E2E_NODES,
// E2E_NODE_IMAGE and K8S_VERSION. What is unset is left to Open's defaults.
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
		if err != nil || number == 0 {
			return Options{}, optionErrorf("%s=%s is no number of nodes: set one from 1 to %d", nodesVariable, nodes, maxNodes)
		}
		options.Nodes = number
	}
	return options, nil
}
