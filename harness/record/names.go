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

// ownPodSuffix resembles the suffix that a Deployment adds to the names of its Pods. It ends with an ordinal, because an
// operator in a StatefulSet may parse the end of its Pod's name.
const ownPodSuffix = "-6b7f9c8d5-0"

// OwnPod returns the name of the Pod that represents the operator of the given Deployment. It is the same in every run.
func OwnPod(deployment string) string { return deployment + ownPodSuffix }

// IsOwnPod reports whether OwnPod generated the name. A History ignores this Pod, because no operator created it.
func IsOwnPod(name string) bool { return strings.HasSuffix(name, ownPodSuffix) }

// TemplateHash returns the pod-template hash that a workload such as a Deployment adds to the labels of its Pods and
// ReplicaSets, or an empty string. A ReplicaSet's name also ends with this hash. If several labels contain a hash,
// TemplateHash uses the one whose name sorts first.
func TemplateHash(labels map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if strings.HasSuffix(name, "pod-template-hash") {
			return labels[name]
		}
	}
	return ""
}
