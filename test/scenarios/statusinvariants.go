package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

// StatusIsAccurate judges every observed version of a resource's status. The history has the versions of that one
// resource and of its namespace's Pods, from the beginning. A status may be late, but each must be consistent in
// itself, and the Pods that it reports must have existed at some earlier moment, as many of them ready. If it reports
// none, there must have been none since the last reported ones.
func StatusIsAccurate(history []record.ObjectVersion) error {
	return judgeStatus(history, (*podHistory).observed)
}

// StatusIsConsistent is StatusIsAccurate for an operator one of whose watches lags behind the others: the Pods that
// it combines from several watches may never have existed together.
func StatusIsConsistent(history []record.ObjectVersion) error {
	return judgeStatus(history, func(*podHistory, Observed) error { return nil })
}

func judgeStatus(history []record.ObjectVersion, podsOf func(*podHistory, Observed) error) error {
	var lies []error
	var port nodePort
	var observed generation
	pods := newPodHistory()
	for _, version := range history {
		if version.GetKind() != webServer.Kind && version.GetKind() != memcached.Kind {
			lies = append(lies, pods.add(version))
			continue
		}
		if version.Deleted {
			port, observed = 0, 0
			pods.reset()
			continue
		}
		s, err := Observe(version.Unstructured)
		if err != nil {
			return err
		}
		pods.owner = s.GetUID()
		if s.ObservedGeneration == 0 {
			continue // the operator has not reported anything yet
		}
		err = errors.Join(s.selfConsistent(), podsOf(pods, s), port.checkUnchanged(s), observed.checkMonotonic(s))
		if err != nil {
			lies = append(lies, fmt.Errorf("%s at resourceVersion %s: %w", s.GetKind(), s.GetResourceVersion(), err))
		}
	}
	return errors.Join(lies...)
}

// selfConsistent checks what must hold between the fields of any status.
func (s Observed) selfConsistent() error {
	var errs []error
	claim := func(holds bool, lie string, args ...any) {
		if !holds {
			errs = append(errs, fmt.Errorf(lie, args...))
		}
	}
	claim(s.ObservedGeneration <= s.GetGeneration(), "it observed generation %d of %d", s.ObservedGeneration, s.GetGeneration())
	claim(slices.IsSorted(s.Nodes), "nodes are not sorted: %v", s.Nodes)
	claim(len(slices.Compact(slices.Clone(s.Nodes))) == len(s.Nodes), "nodes repeat: %v", s.Nodes)
	claim(int(s.Replicas) == len(s.Nodes), "replicas is %d, but nodes are %v", s.Replicas, s.Nodes)
	claim(s.ReadyReplicas <= s.Replicas, "%d Pods of %d are ready", s.ReadyReplicas, s.Replicas)
	claim(s.Selector != "", "there is no selector")
	claim(len(s.Conditions) == 3, "it has %d conditions", len(s.Conditions))
	for _, c := range s.Conditions {
		// While a new spec is applied, Degraded is about the previous one.
		claim(c.ObservedGeneration == s.ObservedGeneration || c.Type == workload.Degraded && c.ObservedGeneration < s.ObservedGeneration &&
			!meta.IsStatusConditionFalse(s.Conditions, workload.Progressing), "condition %s speaks of generation %d, the status of %d", c.Type, c.ObservedGeneration, s.ObservedGeneration)
		claim(c.Message != "", "condition %s has no message", c.Type)
	}
	available := meta.IsStatusConditionTrue(s.Conditions, workload.Available)
	claim(available == (s.ReadyReplicas > 0), "Available is %t with %d ready Pods", available, s.ReadyReplicas)
	if s.ObservedGeneration == s.GetGeneration() && meta.IsStatusConditionPresentAndEqual(s.Conditions, workload.Progressing, metav1.ConditionFalse) &&
		!meta.IsStatusConditionTrue(s.Conditions, workload.Degraded) {
		desired := s.desired()
		claim(s.Replicas == desired && s.ReadyReplicas == desired, "neither Progressing nor Degraded with %d of %d Pods, %d ready", s.Replicas, desired, s.ReadyReplicas)
	}
	return errors.Join(errs...)
}

// desired is the number of Pods that the spec asks for.
func (s Observed) desired() int32 {
	for _, k := range []TestKind{webServer, memcached} {
		if s.GetKind() == k.Kind {
			desired, _, _ := unstructured.NestedInt64(s.Object, "spec", k.Replicas)
			return int32(desired)
		}
	}
	return -1
}

// nodePort is the node port that a resource has reported, which it keeps for life.
type nodePort int32

func (p *nodePort) checkUnchanged(s Observed) error {
	was := *p
	*p = nodePort(s.NodePort)
	if was != 0 && *p != was {
		return fmt.Errorf("the node port was %d and is %d", was, *p)
	}
	return nil
}

// generation is the generation that a resource has observed, which never decreases.
type generation int64

func (g *generation) checkMonotonic(s Observed) error {
	was := *g
	*g = generation(s.ObservedGeneration)
	if *g < was {
		return fmt.Errorf("the observed generation was %d and is %d", was, *g)
	}
	return nil
}

// podHistory knows the sets of Pods that the resource ever had: those that are active and whose ReplicaSet's Deployment exists and
// is the resource's. While a Deployment's Pods outlive it, they are another such set: an operator may hear of a new Pod before it
// hears that the Deployment has gone, since each kind has a watch of its own.
type podHistory struct {
	owner      types.UID               // the UID of the resource
	owners     map[types.UID]types.UID // of Deployments, ReplicaSets and Pods
	living     map[types.UID]pod       // those neither terminating nor finished
	exists     map[types.UID]bool      // Deployments
	moments    []string                // the Pods at each moment, in order
	lastMoment int                     // the moment that the last status reported
}

type pod struct {
	name  string
	ready bool
}

func newPodHistory() *podHistory {
	return &podHistory{owners: map[types.UID]types.UID{}, living: map[types.UID]pod{}, exists: map[types.UID]bool{},
		moments: []string{noPods}}
}

// noPods is the first moment.
var noPods = describePods(nil, 0)

// reset starts a new resource of the name, which has no Pods yet.
func (h *podHistory) reset() {
	h.moments = append(h.moments, noPods)
	h.lastMoment = len(h.moments) - 1
	h.owner = "nobody"
}

func (h *podHistory) add(version record.ObjectVersion) error {
	h.owners[version.GetUID()] = ""
	if owner := metav1.GetControllerOf(version); owner != nil {
		h.owners[version.GetUID()] = owner.UID
	}
	switch version.GetKind() {
	case "Deployment":
		h.exists[version.GetUID()] = !version.Deleted
	case "Pod":
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(version.Object, p); err != nil {
			return err
		}
		delete(h.living, p.UID)
		if !version.Deleted && p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			h.living[p.UID] = pod{p.Name, slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})}
		}
	}
	for deployment, exists := range h.exists {
		if !exists && h.owners[deployment] == h.owner {
			if late := h.podsOf(func(of types.UID) bool { return of == deployment }); late != noPods {
				h.moments = append(h.moments, late)
			}
		}
	}
	h.moments = append(h.moments, h.podsOf(func(of types.UID) bool { return h.exists[of] && h.owners[of] == h.owner }))
	return nil
}

// podsOf describes the living Pods of some Deployments.
func (h *podHistory) podsOf(deployments func(types.UID) bool) string {
	var names []string
	var ready int32
	for uid, p := range h.living {
		if !deployments(h.owners[h.owners[uid]]) {
			continue
		}
		names = append(names, p.name)
		if p.ready {
			ready++
		}
	}
	slices.Sort(names)
	return describePods(names, ready)
}

// observed checks that at some moment there were exactly the Pods that the status names, as many of them ready. That
// moment may be before the one of the last status: a live read of a Deployment may be newer than the next event of
// its watch. But no lag makes reported Pods disappear and come back.
func (h *podHistory) observed(s Observed) error {
	claim := describePods(s.Nodes, s.ReadyReplicas)
	since, ever := slices.Index(h.moments[h.lastMoment:], claim), slices.Index(h.moments, claim)
	switch {
	case since >= 0:
		h.lastMoment += since
	case claim == noPods:
		return fmt.Errorf("it forgets its Pods: %s", h.moments[h.lastMoment])
	case ever >= 0:
		h.lastMoment = ever
	default:
		return fmt.Errorf("there never were these Pods: %s", claim)
	}
	return nil
}

func describePods(names []string, ready int32) string {
	return fmt.Sprintf("[%s], %d ready", strings.Join(names, " "), ready)
}
