package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// nodeName is the name of a control plane's first Node.
const nodeName = "fake-node-1"

func (m *Manager) podName() string { return record.OwnPod(m.workload.name) }

// WantsPod reports whether the manager might look up its own Pod, for example to make it the owner of the leader
// election lock. It returns true if the manager is allowed to read Pods or knows the UID of its Pod.
func (m *Manager) WantsPod() bool {
	reads := func(rule rbacv1.PolicyRule) bool {
		return matches(rule.APIGroups, "") && matches(rule.Resources, "pods") && matches(rule.Verbs, "get", "list", "watch")
	}
	return slices.ContainsFunc(slices.Concat(m.ClusterRules, m.NamespaceRules), reads) ||
		slices.ContainsFunc(slices.Concat(m.ClusterRoles, m.NamespaceRoles), isUserFacing) || m.knowsUID()
}

// matches reports whether list contains one of the values or the wildcard.
func matches(list []string, values ...string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return one == "*" || slices.Contains(values, one) })
}

// knowsUID reports whether the manager gets its Pod's UID in a variable, an argument or a file.
func (m *Manager) knowsUID() bool {
	const uid = "uid-of-the-pod"
	c := m.In(uid).Container("", "")
	return strings.Contains(fmt.Sprintf("%s %s %s %s", c.Env, c.Arguments, c.Mounts, c.Files), uid)
}

// Pod returns the manager's Pod for a run, and the ServiceAccount of that Pod, which must be created first. Fields that
// the API server may reject in a run, such as the priority class, are removed from the Pod.
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

// In returns a copy of the manager that runs in the Pod with the given UID.
func (m *Manager) In(podUID types.UID) *Manager {
	in := *m
	in.podUID = podUID
	return &in
}
