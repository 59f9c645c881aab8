package record

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// UIDs matches the UID of an object anywhere in a text.
var UIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// NormalizeName replaces what differs between two runs in an object's name: the namespace's name and UIDs.
func NormalizeName(name, namespace string) string {
	if namespace != "" {
		name = strings.ReplaceAll(name, namespace, "<namespace>")
	}
	return UIDs.ReplaceAllString(name, "<uid>")
}

// ownPodSuffix is what the name of an operator's own Pod ends with: a ReplicaSet's hash and the Pod's random letters.
const ownPodSuffix = "-6b7f9c8d5-x2k4q"

// OwnPod is the name of the Pod in which an operator runs, by that of its Deployment. It is the same in every run, and no
// other Pod's.
func OwnPod(deployment string) string { return deployment + ownPodSuffix }

// IsOwnPod tells whether a Pod of this name is an operator's own. It is no work of the operator, so no history holds it.
func IsOwnPod(name string) bool { return strings.HasSuffix(name, ownPodSuffix) }

// TemplateHash is the hash of the Pods' template that an object's labels hold, as those of a Deployment's ReplicaSets and
// Pods do, and those of other workloads such as Argo's Rollouts; empty if they hold none. Of several it is that of the first
// label, in the order of their names. It ends the ReplicaSets' names.
func TemplateHash(labels map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if strings.HasSuffix(name, "pod-template-hash") {
			return labels[name]
		}
	}
	return ""
}
