package record

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// UIDs matches object UIDs in text.
var UIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// NormalizeName replaces the parts of an object's name that differ between runs: the namespace and UIDs.
func NormalizeName(name, namespace string) string {
	if namespace != "" {
		name = strings.ReplaceAll(name, namespace, "<namespace>")
	}
	return UIDs.ReplaceAllString(name, "<uid>")
}

// ownPodSuffix looks like the hash of a ReplicaSet followed by the random characters of a Pod.
const ownPodSuffix = "-6b7f9c8d5-x2k4q"

// OwnPod returns the name of the Pod that an operator believes it is running in. The name is the same in every run.
func OwnPod(deployment string) string { return deployment + ownPodSuffix }

// IsOwnPod reports whether name was returned by OwnPod. A History ignores this Pod because no reconcile creates it.
func IsOwnPod(name string) bool { return strings.HasSuffix(name, ownPodSuffix) }

// TemplateHash returns the value of the first label, by name, that ends with pod-template-hash, or an empty string.
// Workloads such as Deployments set it on their Pods and ReplicaSets. A ReplicaSet's name ends with this hash.
func TemplateHash(labels map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if strings.HasSuffix(name, "pod-template-hash") {
			return labels[name]
		}
	}
	return ""
}
