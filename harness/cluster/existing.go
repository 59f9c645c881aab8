package cluster

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

type existing struct {
	options  Options
	stateDir *stateDir
}

// nameAvailable always succeeds, because no cluster is created.
func (e *existing) nameAvailable(context.Context) error { return nil }

// create writes a kubeconfig that only contains the selected context, so that its users cannot connect to another
// cluster.
func (e *existing) create(context.Context) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	where := strings.Join(rules.Precedence, ", ")
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		where += " (from " + clientcmd.RecommendedConfigPathEnvVar + ")"
	}
	users, err := rules.Load()
	if err != nil {
		return optionErrorf("cannot read the kubeconfig: %w: correct it, or set KUBECONFIG to another file", err)
	}
	contexts := strings.Join(slices.Sorted(maps.Keys(users.Contexts)), ", ")
	switch {
	case !slices.ContainsFunc(rules.Precedence, exists):
		return optionErrorf("kubeconfig %s does not exist: set KUBECONFIG to the path of a kubeconfig", where)
	case contexts == "":
		return optionErrorf("kubeconfig %s has no context: set KUBECONFIG to the path of another kubeconfig", where)
	case e.options.Context == "":
		return optionErrorf("an existing cluster requires a context: set %s to one of %s", contextOption, contexts)
	case users.Contexts[e.options.Context] == nil:
		return optionErrorf("invalid %s %q: the contexts in %s are %s", contextOption, e.options.Context, where, contexts)
	}
	own := *users
	own.CurrentContext = e.options.Context
	if err := clientcmdapi.MinifyConfig(&own); err != nil {
		return optionErrorf("context %s in %s is incomplete: %w", e.options.Context, where, err)
	}
	if err := clientcmdapi.FlattenConfig(&own); err != nil {
		return optionErrorf("cannot read a file of context %s: %w", e.options.Context, err)
	}
	return clientcmd.WriteToFile(own, e.stateDir.kubeconfig())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// remove does nothing, because the cluster belongs to the user.
func (e *existing) remove(context.Context, bool) error { return nil }

func (e *existing) load(context.Context, string) error {
	return errors.New("images cannot be loaded into an existing cluster: push them to a registry that it can reach")
}

func (e *existing) discoverKinds(context.Context) error { return nil }

func (e *existing) exportLogs(context.Context, string) error { return nil }
