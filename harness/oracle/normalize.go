package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

// tokenVolume matches the generated name of a Pod's ServiceAccount token volume.
var tokenVolume = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)

// revision matches the annotations that record the rollout revisions of workloads such as Deployments and Rollouts.
var revision = regexp.MustCompile(`/revision(-history)?$`)

// normalizer replaces values that differ between runs of the same scenario.
type normalizer struct {
	texts     *strings.Replacer
	nodePorts map[int64]bool
}

// newNormalizer returns a normalizer that replaces the generated values in the objects, such as names, UIDs and IPs.
func newNormalizer(namespace string, objects []unstructured.Unstructured) normalizer {
	n := normalizer{nodePorts: map[int64]bool{}}
	found := map[string]string{namespace: "<namespace>"}
	for _, object := range objects {
		hash := record.TemplateHash(object.GetLabels())
		if prefix := object.GetGenerateName(); prefix != "" && strings.HasPrefix(object.GetName(), prefix) {
			found[object.GetName()] = strings.ReplaceAll(prefix, "-"+hash+"-", "-<hash>-") + "*"
		}
		found[hash] = "<hash>"
		if node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName"); object.GetKind() == "Pod" {
			found[node] = "<node>"
		}
		for _, ip := range assignedIPs(object) {
			found[ip] = "<ip>"
		}
		ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
		for _, port := range ports {
			fields, _ := port.(map[string]any)
			if number, ok := fields["nodePort"].(int64); ok {
				n.nodePorts[number] = true
			}
		}
	}
	delete(found, "") // most objects have no hash or IP, and unscheduled Pods have no Node
	names := longestFirst(found)
	for _, object := range objects {
		found[string(object.GetUID())] = "<uid of " + object.GetKind() + " " + names.Replace(object.GetName()) + ">"
	}
	delete(found, "") // some objects, such as metrics, have no UID
	n.texts = longestFirst(found)
	return n
}

func assignedIPs(object unstructured.Unstructured) []string {
	ips, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "clusterIPs")
	for _, field := range []string{"podIP", "hostIP"} {
		ip, _, _ := unstructured.NestedString(object.Object, "status", field)
		ips = append(ips, ip)
	}
	return slices.DeleteFunc(ips, func(ip string) bool { return ip == "None" })
}

// longestFirst returns a replacer that prefers the longest match, for example 10.0.0.12 over 10.0.0.1.
func longestFirst(found map[string]string) *strings.Replacer {
	var pairs []string
	for _, old := range slices.Backward(slices.Sorted(maps.Keys(found))) {
		pairs = append(pairs, old, found[old])
	}
	return strings.NewReplacer(pairs...)
}

func (n normalizer) object(object unstructured.Unstructured) map[string]any {
	generation := object.GetGeneration()
	object = *object.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	for annotation := range object.GetAnnotations() {
		if revision.MatchString(annotation) {
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations", annotation)
		}
	}
	if object.GetKind() == "Pod" { // these labels are copied from the Node
		for _, label := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
			unstructured.RemoveNestedField(object.Object, "metadata", "labels", label)
		}
	}
	unstructured.RemoveNestedField(object.Object, "status", "collisionCount")
	if isOfWorkload(object) { // the Deployment controller adds annotations to a ReplicaSet but does not remove them again
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
	}
	masked := map[string]any{}
	for name, field := range object.Object {
		masked[name] = n.value(name, field, generation, name == "status")
	}
	dropEmptyStatus(masked)
	return masked
}

// dropEmptyStatus removes empty fields from the status. An empty object is meaningless in a status but can be
// significant in a spec, for example emptyDir.
func dropEmptyStatus(object any) {
	fields, _ := object.(map[string]any)
	if status, ok := fields["status"].(map[string]any); ok && len(withoutEmpty(status)) == 0 {
		delete(fields, "status")
	}
}

func withoutEmpty(fields map[string]any) map[string]any {
	for key, field := range fields {
		if inner, ok := field.(map[string]any); ok {
			if inner = withoutEmpty(inner); len(inner) == 0 {
				delete(fields, key)
			}
		}
		if list, ok := field.([]any); ok && len(list) == 0 {
			delete(fields, key)
		}
	}
	return fields
}

func (n normalizer) value(name string, value any, generation int64, inStatus bool) any {
	if inStatus && strings.Contains(strings.ToLower(name), "duration") && isDuration(value) {
		return "<duration>"
	}
	switch value := value.(type) {
	case map[string]any:
		masked := make(map[string]any, len(value))
		for key, field := range value {
			masked[n.text(key)] = n.value(key, field, generation, inStatus)
		}
		return masked
	case []any:
		masked := make([]any, len(value))
		for index, element := range value {
			masked[index] = n.value("", element, generation, inStatus)
		}
		if name == "conditions" {
			slices.SortStableFunc(masked, func(a, b any) int { return strings.Compare(typeOf(a), typeOf(b)) })
		}
		if name == "finalizers" || name == "ownerReferences" { // several controllers may add them in any order
			slices.SortStableFunc(masked, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return masked
	case int64:
		if name == "observedGeneration" {
			if value == generation {
				return "<current>"
			}
			return "<stale>"
		}
		if n.nodePorts[value] {
			return "<nodePort>"
		}
	case string:
		return n.text(value)
	}
	return value
}

// isDuration reports whether a value is a number or a string such as 1m5s.
func isDuration(value any) bool {
	switch value := value.(type) {
	case int64, float64:
		return true
	case string:
		_, err := time.ParseDuration(value)
		return err == nil
	}
	return false
}

func (n normalizer) text(text string) string {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return "<time>"
	}
	if tokenVolume.MatchString(text) {
		return "kube-api-access-*"
	}
	return record.UIDs.ReplaceAllString(n.texts.Replace(text), "<unknown uid>")
}

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	name, _ := fields["type"].(string)
	return name
}
