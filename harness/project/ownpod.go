package project

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// nodeName is the name of a control plane's first Node.
const nodeName = "fake-node-1"

func (m *Manager) podName() string { return record.OwnPod(m.workload.name) }

func (m *Manager) hostname() string { return cmp.Or(m.workload.template.Spec.Hostname, m.podName()) }

// Pod returns the manager's Pod for a run, and the ServiceAccount of that Pod, which must be created first. Fields that
// the API server may reject in a run, such as the priority class, are removed from the Pod.
func (m *Manager) Pod(namespace string) (*corev1.ServiceAccount, *corev1.Pod) {
	template := m.workload.template.DeepCopy()
	labels := map[string]string{}
	maps.Copy(labels, template.Labels)
	labels["pod-template-hash"] = "6b7f9c8d5"
	own := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.podName(), Labels: labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
	own.Spec.NodeName = nodeName
	own.Spec.SchedulingGates, own.Spec.RuntimeClassName, own.Spec.Overhead, own.Spec.ResourceClaims = nil, nil, nil, nil
	own.Spec.PriorityClassName, own.Spec.Priority = "", nil
	for _, container := range slices.Concat(own.Spec.InitContainers, own.Spec.Containers) {
		for _, mount := range container.VolumeMounts {
			isMounted := func(volume corev1.Volume) bool { return volume.Name == mount.Name }
			if !slices.ContainsFunc(own.Spec.Volumes, isMounted) { // mounts a volumeClaimTemplate of a StatefulSet
				own.Spec.Volumes = append(own.Spec.Volumes, corev1.Volume{Name: mount.Name})
			}
		}
	}
	account := cmp.Or(own.Spec.ServiceAccountName, own.Spec.DeprecatedServiceAccount, "default")
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}, own
}

// In returns a copy of the manager that runs in the Pod with the given UID.
func (m *Manager) In(podUID types.UID) *Manager {
	in := *m
	in.podUID = podUID
	return &in
}
