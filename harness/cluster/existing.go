package cluster

import (
	"context"
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

// create writes a kubeconfig with only the selected context, so that its users cannot connect to another cluster.
func (e *existing) create(context.Context) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	where := strings.Join(rules.Precedence, ", ")
	users, err := rules.Load()
	if err != nil {
		return optionErrorf("cannot read the kubeconfig: %w: correct it, or set KUBECONFIG to another file", err)
	}
	exists := func(file string) bool { _, err := os.Stat(file); return err == nil }
	contexts := strings.Join(slices.Sorted(maps.Keys(users.Contexts)), ", ")
	switch {
	case !slices.ContainsFunc(rules.Precedence, exists):
		return optionErrorf("kubeconfig %s does not exist: set KUBECONFIG to the path of a kubeconfig", where)
	case contexts == "":
		return optionErrorf("kubeconfig %s has no context: add one, or set KUBECONFIG to another kubeconfig", where)
	case users.Contexts[e.options.Context] == nil:
		return optionErrorf("invalid %s %q: set it to a context in %s: %s", contextOption, e.options.Context, where, contexts)
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

// remove does nothing, because the cluster belongs to the user.
func (e *existing) remove(context.Context) error { return nil }

func (e *existing) exportLogs(context.Context, string) error { return nil }
