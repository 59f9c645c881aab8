package project

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// nodeName is that of a control plane's first Node.
const nodeName = "fake-node-1"

// podName is what the manager's Pod is called, by its Deployment.
func (m *Manager) podName() string { return record.OwnPod(m.workload.name) }

// WantsPod tells whether the manager could ask for its own Pod, such as to own by it the lock of its leader election, or to
// learn its image: its roles let it read Pods, or its manifests tell it the Pod's UID, for an owner reference.
func (m *Manager) WantsPod() bool {
	reads := func(rule rbacv1.PolicyRule) bool {
		return matches(rule.APIGroups, "") && matches(rule.Resources, "pods") && matches(rule.Verbs, "get", "list", "watch")
	}
	return slices.ContainsFunc(slices.Concat(m.ClusterRules, m.NamespaceRules), reads) || m.knowsUID()
}

// matches tells whether a rule's list has one of some values, or all.
func matches(list []string, values ...string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return one == "*" || slices.Contains(values, one) })
}

// knowsUID tells whether the manager learns the UID of its Pod, by a variable or a file.
func (m *Manager) knowsUID() bool {
	told := func(field *corev1.ObjectFieldSelector) bool { return field != nil && field.FieldPath == "metadata.uid" }
	isTold := func(file corev1.DownwardAPIVolumeFile) bool { return told(file.FieldRef) }
	return slices.ContainsFunc(m.container.Env, func(v corev1.EnvVar) bool { return v.ValueFrom != nil && told(v.ValueFrom.FieldRef) }) ||
		slices.ContainsFunc(m.workload.template.Spec.Volumes, func(v corev1.Volume) bool { return slices.ContainsFunc(downwardItems(v), isTold) })
}

// downwardItems are the files of a volume that the downward API fills.
func downwardItems(volume corev1.Volume) []corev1.DownwardAPIVolumeFile {
	var items []corev1.DownwardAPIVolumeFile
	if volume.DownwardAPI != nil {
		items = volume.DownwardAPI.Items
	}
	if volume.Projected != nil {
		for _, source := range volume.Projected.Sources {
			if source.DownwardAPI != nil {
				items = append(items, source.DownwardAPI.Items...)
			}
		}
	}
	return items
}

// Pod is the manager's in a run, and the ServiceAccount that the API server wants before. Nothing else has to exist for it,
// such as a priority class.
func (m *Manager) Pod(namespace string) (*corev1.ServiceAccount, *corev1.Pod) {
	template := m.workload.template.DeepCopy()
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["pod-template-hash"] = "6b7f9c8d5"
	own := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.podName(), Labels: labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
	own.Spec.NodeName = nodeName
	own.Spec.SchedulingGates, own.Spec.RuntimeClassName, own.Spec.Overhead, own.Spec.ResourceClaims = nil, nil, nil, nil
	own.Spec.PriorityClassName, own.Spec.Priority = "", nil
	account := cmp.Or(own.Spec.ServiceAccountName, own.Spec.DeprecatedServiceAccount, "default")
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}, own
}

// In returns a manager that runs in the Pod with this UID.
func (m *Manager) In(podUID types.UID) *Manager {
	in := *m
	in.podUID = podUID
	return &in
}
