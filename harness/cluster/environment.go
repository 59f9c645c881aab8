package cluster

import (
	"os"
	"strconv"
)

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
