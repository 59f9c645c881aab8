package project

import (
	"regexp"
	"slices"
	"strings"
)

// defaultNamespace is that of manifests which name none, and holds objects of Kubernetes.
const defaultNamespace = "default"

// Namespace is where the manifests deploy the manager; empty if they do not say.
func (m *Manager) Namespace() string {
	if m.workload.namespace == defaultNamespace {
		return ""
	}
	return m.workload.namespace
}

// What tells an operator which namespaces it works in, as operator-sdk and many others call it. A flag --namespace does, but a
// variable of that name often is the Pod's; nor does the namespace of a lock.
var (
	watchVariable = regexp.MustCompile(`(?i)^(watch(ed)?|target)_?namespaces?$`)
	watchFlag     = regexp.MustCompile(`(?i)^--?((watch(ed)?|target)-?)?namespaces?$`)
)

// WatchesOnlyItsOwn tells whether the manager works in its own namespace alone: a variable or a flag says so, or it may do nothing
// elsewhere.
func (m *Manager) WatchesOnlyItsOwn() bool {
	if len(m.ClusterRules) == 0 {
		return true
	}
	own := m.workload.namespace
	env := m.env(own)
	for name, value := range env {
		if watchVariable.MatchString(name) && value == own {
			return true
		}
	}
	arguments := slices.Concat(m.container.Command, m.container.Args)
	for i, argument := range arguments {
		name, value, joined := strings.Cut(expand(argument, env), "=")
		if !joined && i+1 < len(arguments) {
			value = expand(arguments[i+1], env)
		}
		if watchFlag.MatchString(name) && value == own {
			return true
		}
	}
	return false
}
