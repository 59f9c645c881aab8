package specgen

import (
	"slices"
	"strings"
)

// kubernetesField describes the valid values of fields in Kubernetes types. The schema of a CRD does not contain these
// values, because the Go types have no markers for them.
type kubernetesField struct {
	// names are suffixes of field names, separated by spaces. For example, pullPolicy also matches imagePullPolicy. The
	// name service.type matches the field serviceType. It also matches the field type inside a field whose name ends with
	// service.
	names  string
	values []any
}

// kubernetesFields lists the known fields. The first match is used, so special cases precede general names. limits.[]
// and requests.[] describe CPU quantities, because generated resource lists contain only the key cpu.
var kubernetesFields = []kubernetesField{
	{"limits.[] requests.[] cpu cpuRequest", []any{"100m", "200m"}},
	{"accessMode accessModes", []any{"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"}},
	{"cidr loadBalancerSourceRanges", []any{"192.0.2.0/24", "198.51.100.0/24"}},
	{"clusterIP", []any{"None", ""}},
	{"completionMode", []any{"Indexed", "NonIndexed"}},
	{"concurrencyPolicy", []any{"Forbid", "Replace", "Allow"}},
	{"cpuLimit", []any{"200m", "400m"}},
	{"cron schedule", []any{"*/5 * * * *", "30 4 * * *"}},
	{"dnsPolicy", []any{"Default", "ClusterFirst", "ClusterFirstWithHostNet"}},
	{"duration interval period timeout ttl", []any{"10s", "1m0s"}},
	{"tolerations.effect", []any{"NoSchedule", "PreferNoSchedule", "NoExecute"}},
	{"externalIPs hostIP hostAliases.ip loadBalancerIP nameservers", []any{"192.0.2.1", "192.0.2.2"}},
	{"externalTrafficPolicy internalTrafficPolicy", []any{"Local", "Cluster"}},
	{"fieldPath", []any{"metadata.name", "metadata.namespace"}},
	{"fsGroupChangePolicy", []any{"OnRootMismatch", "Always"}},
	{"ipFamilies", []any{"IPv4"}},
	{"ipFamilyPolicy", []any{"SingleStack", "PreferDualStack"}},
	{"emptyDir.medium", []any{"Memory", ""}},
	{"memory memoryRequest", []any{"64Mi", "128Mi"}},
	{"memoryLimit", []any{"128Mi", "256Mi"}},
	{"mountPropagation", []any{"HostToContainer", "None"}},
	{"nodeAffinityPolicy", []any{"Ignore", "Honor"}},
	{"nodePort", []any{int64(31234), int64(31235)}},
	{"nodeTaintsPolicy", []any{"Honor", "Ignore"}},
	{"tolerations.operator", []any{"Exists", "Equal"}},
	{"matchExpressions.operator", []any{"Exists", "DoesNotExist", "In", "NotIn"}},
	{"items.path subPath", []any{"example", "other"}},
	{"path", []any{"/example", "/other"}},
	{"pathType", []any{"Prefix", "Exact", "ImplementationSpecific"}},
	{"podManagementPolicy", []any{"Parallel", "OrderedReady"}},
	{"policyTypes", []any{"Ingress", "Egress"}},
	{"preemptionPolicy", []any{"Never", "PreemptLowerPriority"}},
	{"priorityClassName", []any{"system-cluster-critical", "system-node-critical"}},
	{"procMount", []any{"Default"}},
	{"protocol", []any{"TCP", "UDP", "SCTP"}},
	{"pullPolicy", []any{"IfNotPresent", "Always", "Never"}},
	{"reclaimPolicy", []any{"Delete", "Retain"}},
	{"restartPolicy", []any{"OnFailure", "Always", "Never"}},
	{"scheme", []any{"HTTP", "HTTPS"}},
	{"selectPolicy", []any{"Min", "Max"}},
	{"sessionAffinity", []any{"ClientIP", "None"}},
	{"size sizeLimit requests.storage", []any{"1Gi", "2Gi"}},
	{"supplementalGroupsPolicy", []any{"Strict", "Merge"}},
	{"terminationMessagePolicy", []any{"FallbackToLogsOnError", "File"}},
	{"timeZone", []any{"Etc/UTC", "Europe/Berlin"}},
	{"topologyKey", []any{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}},
	{"service.type", []any{"ClusterIP", "NodePort", "LoadBalancer"}},
	{"updateStrategy.type", []any{"RollingUpdate", "OnDelete"}},
	{"strategy.type", []any{"RollingUpdate", "Recreate"}},
	{"policies.type", []any{"Pods", "Percent"}},
	{"seccompProfile.type appArmorProfile.type", []any{"RuntimeDefault", "Unconfined"}},
	{"hostPath.type", []any{"DirectoryOrCreate", "Directory"}},
	{"unhealthyPodEvictionPolicy", []any{"AlwaysAllow", "IfHealthyBudget"}},
	{"url uri", []any{"https://example.com/", "https://other.example.com/"}},
	{"volumeBindingMode", []any{"WaitForFirstConsumer", "Immediate"}},
	{"volumeMode", []any{"Filesystem", "Block"}},
	{"whenUnsatisfiable", []any{"ScheduleAnyway", "DoNotSchedule"}},
}

// kubernetesValues returns the values of the first match in kubernetesFields. It returns nil if there is no match or if
// the field has an enum.
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
	return slices.ContainsFunc(strings.Fields(k.names), func(name string) bool {
		in, own, isNested := strings.Cut(name, ".")
		if !isNested {
			return endsWith(f.name, name)
		}
		return endsWith(f.name, in+own) || f.name == own && endsWith(parent, in)
	})
}

// endsWith reports whether a camelCase name ends with the given words, as imagePullPolicy ends with pullPolicy.
func endsWith(name, words string) bool {
	start := len(name) - len(words)
	return start >= 0 && strings.EqualFold(name[start:], words) && (start == 0 || name[start] >= 'A' && name[start] <= 'Z')
}

// keyIn returns the key for a generated map with a single entry. A resource list such as limits accepts only certain
// keys, although its schema allows any key.
func keyIn(parent *field) string {
	if parent.name == "limits" || parent.name == "requests" {
		return "cpu"
	}
	return "example"
}
