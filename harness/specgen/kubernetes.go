package specgen

import (
	"slices"
	"strings"
)

// kubernetesField describes the valid values of a field in a Kubernetes type. The schema of a CRD does not contain
// these values, because the Go types have no markers for them.
type kubernetesField struct {
	// name is a suffix of the field's name. For example, pullPolicy also matches imagePullPolicy.
	name string
	// in, if set, is a suffix of the name of the enclosing object or list.
	in     string
	values []any
}

// kubernetesFields is searched in order, so the special case of a name precedes the general one.
var kubernetesFields = []kubernetesField{
	{name: elements, in: "limits", values: []any{"100m", "200m"}}, // for the key cpu of a new map
	{name: elements, in: "requests", values: []any{"100m", "200m"}},
	{name: "accessMode", values: []any{"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"}},
	{name: "accessModes", values: []any{"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"}},
	{name: "cidr", values: []any{"192.0.2.0/24", "198.51.100.0/24"}},
	{name: "clusterIP", values: []any{"None", ""}},
	{name: "completionMode", values: []any{"Indexed", "NonIndexed"}},
	{name: "concurrencyPolicy", values: []any{"Forbid", "Replace", "Allow"}},
	{name: "cpu", values: []any{"100m", "200m"}},
	{name: "cpuLimit", values: []any{"200m", "400m"}},
	{name: "cpuRequest", values: []any{"100m", "200m"}},
	{name: "cron", values: []any{"*/5 * * * *", "30 4 * * *"}},
	{name: "dnsPolicy", values: []any{"Default", "ClusterFirst", "ClusterFirstWithHostNet"}},
	{name: "duration", values: []any{"10s", "1m0s"}},
	{name: "effect", in: "tolerations", values: []any{"NoSchedule", "PreferNoSchedule", "NoExecute"}},
	{name: "externalIPs", values: []any{"192.0.2.1", "192.0.2.2"}},
	{name: "externalTrafficPolicy", values: []any{"Local", "Cluster"}},
	{name: "fieldPath", values: []any{"metadata.name", "metadata.namespace"}},
	{name: "fsGroupChangePolicy", values: []any{"OnRootMismatch", "Always"}},
	{name: "hostIP", values: []any{"192.0.2.1", "192.0.2.2"}},
	{name: "internalTrafficPolicy", values: []any{"Local", "Cluster"}},
	{name: "interval", values: []any{"10s", "1m0s"}},
	{name: "ip", in: "hostAliases", values: []any{"192.0.2.1", "192.0.2.2"}},
	{name: "ipFamilies", values: []any{"IPv4"}},
	{name: "ipFamilyPolicy", values: []any{"SingleStack", "PreferDualStack"}},
	{name: "loadBalancerIP", values: []any{"192.0.2.1", "192.0.2.2"}},
	{name: "loadBalancerSourceRanges", values: []any{"192.0.2.0/24", "198.51.100.0/24"}},
	{name: "medium", in: "emptyDir", values: []any{"Memory", ""}},
	{name: "memory", values: []any{"64Mi", "128Mi"}},
	{name: "memoryLimit", values: []any{"128Mi", "256Mi"}},
	{name: "memoryRequest", values: []any{"64Mi", "128Mi"}},
	{name: "mountPropagation", values: []any{"HostToContainer", "None"}},
	{name: "nameservers", values: []any{"192.0.2.1", "192.0.2.2"}},
	{name: "nodeAffinityPolicy", values: []any{"Ignore", "Honor"}},
	{name: "nodePort", values: []any{int64(31234), int64(31235)}},
	{name: "nodeTaintsPolicy", values: []any{"Honor", "Ignore"}},
	{name: "operator", in: "tolerations", values: []any{"Exists", "Equal"}},
	{name: "operator", in: "matchExpressions", values: []any{"Exists", "DoesNotExist", "In", "NotIn"}},
	{name: "path", in: "items", values: []any{"example", "other"}},
	{name: "subPath", values: []any{"example", "other"}},
	{name: "path", values: []any{"/example", "/other"}},
	{name: "pathType", values: []any{"Prefix", "Exact", "ImplementationSpecific"}},
	{name: "period", values: []any{"10s", "1m0s"}},
	{name: "podManagementPolicy", values: []any{"Parallel", "OrderedReady"}},
	{name: "policyTypes", values: []any{"Ingress", "Egress"}},
	{name: "preemptionPolicy", values: []any{"Never", "PreemptLowerPriority"}},
	{name: "priorityClassName", values: []any{"system-cluster-critical", "system-node-critical"}},
	{name: "procMount", values: []any{"Default"}},
	{name: "protocol", values: []any{"TCP", "UDP", "SCTP"}},
	{name: "pullPolicy", values: []any{"IfNotPresent", "Always", "Never"}},
	{name: "reclaimPolicy", values: []any{"Delete", "Retain"}},
	{name: "restartPolicy", values: []any{"OnFailure", "Always", "Never"}},
	{name: "schedule", values: []any{"*/5 * * * *", "30 4 * * *"}},
	{name: "scheme", values: []any{"HTTP", "HTTPS"}},
	{name: "selectPolicy", values: []any{"Min", "Max"}},
	{name: "sessionAffinity", values: []any{"ClientIP", "None"}},
	{name: "size", values: []any{"1Gi", "2Gi"}},
	{name: "sizeLimit", values: []any{"1Gi", "2Gi"}},
	{name: "storage", in: "requests", values: []any{"1Gi", "2Gi"}},
	{name: "supplementalGroupsPolicy", values: []any{"Strict", "Merge"}},
	{name: "terminationMessagePolicy", values: []any{"FallbackToLogsOnError", "File"}},
	{name: "timeout", values: []any{"10s", "1m0s"}},
	{name: "timeZone", values: []any{"Etc/UTC", "Europe/Berlin"}},
	{name: "topologyKey", values: []any{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}},
	{name: "ttl", values: []any{"10s", "1m0s"}},
	{name: "type", in: "service", values: []any{"ClusterIP", "NodePort", "LoadBalancer"}},
	{name: "type", in: "updateStrategy", values: []any{"RollingUpdate", "OnDelete"}}, // of a StatefulSet or a DaemonSet
	{name: "type", in: "strategy", values: []any{"RollingUpdate", "Recreate"}},
	{name: "type", in: "policies", values: []any{"Pods", "Percent"}}, // of a HorizontalPodAutoscaler
	{name: "type", in: "seccompProfile", values: []any{"RuntimeDefault", "Unconfined"}},
	{name: "type", in: "appArmorProfile", values: []any{"RuntimeDefault", "Unconfined"}},
	{name: "type", in: "hostPath", values: []any{"DirectoryOrCreate", "Directory"}},
	{name: "unhealthyPodEvictionPolicy", values: []any{"AlwaysAllow", "IfHealthyBudget"}},
	{name: "url", values: []any{"https://example.com/", "https://other.example.com/"}},
	{name: "uri", values: []any{"https://example.com/", "https://other.example.com/"}},
	{name: "volumeBindingMode", values: []any{"WaitForFirstConsumer", "Immediate"}},
	{name: "volumeMode", values: []any{"Filesystem", "Block"}},
	{name: "whenUnsatisfiable", values: []any{"ScheduleAnyway", "DoNotSchedule"}},
}

// kubernetesValues returns the values of a field whose name and enclosing object match a field of a Kubernetes type. It
// returns nil for all other fields, and for fields with an enum.
func (f *field) kubernetesValues() []any {
	if f.parent == nil || len(f.schema.Enum) > 0 {
		return nil
	}
	named := f
	if f.name == elements && f.parent.schema.Type == "array" && f.parent.parent != nil {
		named = f.parent
	}
	i := slices.IndexFunc(kubernetesFields, func(known kubernetesField) bool { return known.matches(named) })
	if i < 0 {
		return nil
	}
	return slices.Clone(kubernetesFields[i].values)
}

func (k kubernetesField) matches(f *field) bool {
	parent := f.parent.name
	if parent == elements && f.parent.parent != nil {
		parent = f.parent.parent.name
	}
	return k.in == "" && endsWith(f.name, k.name) || k.in != "" && (endsWith(f.name, k.in+k.name) || f.name == k.name && endsWith(parent, k.in))
}

// endsWith reports whether a camelCase name ends with the given words, as imagePullPolicy ends with pullPolicy.
func endsWith(name, words string) bool {
	start := len(name) - len(words)
	return start >= 0 && strings.EqualFold(name[start:], words) && (start == 0 || name[start] >= 'A' && name[start] <= 'Z')
}

// keyIn returns the key of the entry in a generated map. A resource list such as limits accepts only certain keys,
// although its schema allows any key.
func keyIn(parent *field) string {
	if parent.name == "limits" || parent.name == "requests" {
		return "cpu"
	}
	return "example"
}
