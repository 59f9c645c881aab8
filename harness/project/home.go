package project

import (
	"regexp"
	"slices"
	"strings"
)

// defaultNamespace counts as an unspecified namespace, because it also contains objects that Kubernetes creates.
const defaultNamespace = "default"

// Namespace returns the manager's namespace in the manifests, or an empty string if it is the default namespace.
func (m *Manager) Namespace() string {
	if m.workload.namespace == defaultNamespace {
		return ""
	}
	return m.workload.namespace
}

// watchVariable and watchFlag match the variables and flags that usually restrict an operator to certain namespaces,
// such as operator-sdk's WATCH_NAMESPACE. They match the flag --namespace, but not the variable NAMESPACE, which
// usually contains the Pod's namespace. They do not match settings for the namespace of the leader election lock.
// watched matches a value that lists namespaces. It does not match "" and "*", which stand for all namespaces.
var (
	watchVariable = regexp.MustCompile(`(?i)^(watch(ed)?|target)_?namespaces?$`)
	watchFlag     = regexp.MustCompile(`(?i)^--?((watch(ed)?|target)-?)?namespaces?$`)
	watched       = regexp.MustCompile(`^[-a-z0-9]+(, ?[-a-z0-9]+)*$`)
)

// WatchesOnlyItsOwn reports whether the manager works only in its own namespace. This is the case if a variable or a
// flag lists the watched namespaces, because inNamespace replaces that list with the manager's namespace, or if the
// manager has no cluster-wide permissions.
func (m *Manager) WatchesOnlyItsOwn() bool {
	if len(m.ClusterRules) == 0 && !slices.ContainsFunc(m.ClusterRoles, isUserFacing) {
		return true
	}
	own := m.workload.namespace
	env, arguments, _, _ := m.process(own)
	for name, value := range env {
		if watchVariable.MatchString(name) && value == own {
			return true
		}
	}
	for i, argument := range arguments {
		name, value, joined := strings.Cut(argument, "=")
		if !joined && i+1 < len(arguments) {
			value = arguments[i+1]
		}
		if watchFlag.MatchString(name) && value == own {
			return true
		}
	}
	return false
}
