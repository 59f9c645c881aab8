package bench

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

// resourceState is the observed state of a resource, its children and its Pods.
type resourceState struct {
	generation  int64
	replicas    int64 // the value in the spec
	status      workload.Status
	deployment  types.UID               // empty if there is none
	replicaSets map[types.UID]types.UID // the UIDs of the owning Deployments, by the UID of the ReplicaSet
	pods        map[string]pod          // by name
	ready       bool                    // the last result of podsReady
	right       bool                    // the last result of statusRight
}

// pod is the observed state of a Pod.
type pod struct {
	replicaSet    types.UID
	active, ready bool
}

func newResourceState() *resourceState {
	return &resourceState{replicaSets: map[types.UID]types.UID{}, pods: map[string]pod{}}
}

func podOf(object *corev1.Pod, replicaSet types.UID) pod {
	finished := object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed
	return pod{
		replicaSet: replicaSet,
		active:     object.DeletionTimestamp == nil && !finished,
		ready: slices.ContainsFunc(object.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}),
	}
}

// nodes returns the sorted names of the active Pods of the current Deployment, and the number of ready Pods.
func (s *resourceState) nodes() (names []string, ready int64) {
	for name, p := range s.pods {
		if !p.active || s.deployment == "" || s.replicaSets[p.replicaSet] != s.deployment {
			continue
		}
		names = append(names, name)
		if p.ready {
			ready++
		}
	}
	slices.Sort(names)
	return names, ready
}

// podsReady reports whether the resource has exactly the given number of Pods and all of them are ready.
func (s *resourceState) podsReady(replicas int64) bool {
	names, ready := s.nodes()
	return int64(len(names)) == replicas && ready == replicas
}

// statusRight reports whether the Pods are ready and the status matches the Pods and the current spec.
func (s *resourceState) statusRight(replicas int64) bool {
	names, ready := s.nodes()
	return int64(len(names)) == replicas && ready == replicas &&
		s.replicas == replicas && s.status.ObservedGeneration == s.generation &&
		int64(s.status.Replicas) == replicas && int64(s.status.ReadyReplicas) == replicas &&
		slices.Equal(s.status.Nodes, names) &&
		meta.IsStatusConditionPresentAndEqual(s.status.Conditions, workload.Available, metav1.ConditionTrue)
}

// clean reports whether all objects of an earlier Deployment have been removed.
func (s *resourceState) clean() bool {
	for _, owner := range s.replicaSets {
		if owner != s.deployment {
			return false
		}
	}
	names, _ := s.nodes()
	return len(s.pods) == len(names)
}
