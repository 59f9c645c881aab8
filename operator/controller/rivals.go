package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Server-side apply leaves what others set, and so it cannot repair a field that allows but one of
// several forms: when somebody probes by HTTP instead of by TCP, an apply adds our handler to theirs,
// and the API server refuses a probe with two. Nor can it repair one whose value others rule out, such as
// that of a container which somebody made privileged. Such rivals are edited away first, and nothing else is.

// edit is an operation of a JSON patch.
type edit struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// removeRivals edits away what cannot stand beside the fields that are to be applied.
func (r *reconciler[R]) removeRivals(ctx context.Context, child *child) error {
	edits := child.rivals()
	if len(edits) == 0 {
		return nil
	}
	// The paths count list elements, so they hold for this version of the object alone: any other is a conflict.
	edits = append([]edit{{"replace", "/metadata/resourceVersion", child.object.GetResourceVersion()}}, edits...)
	patch, err := json.Marshal(edits)
	if err != nil {
		return err
	}
	return r.Patch(ctx, child.object.DeepCopyObject().(client.Object), client.RawPatch(types.JSONPatchType, patch))
}

// edited tells whether the API server books fields of the object as edited by this operator, beside
// those that it applied.
func (c *child) edited() bool {
	return slices.ContainsFunc(c.object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == Name && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	})
}

// bookAsApplied turns edited fields into applied ones: an apply can let go of those alone. An object
// that changes meanwhile brings an event, and with it the next try.
func (r *reconciler[R]) bookAsApplied(ctx context.Context, child *child) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(child.object, sets.New(Name), Name)
	if err != nil || len(patch) == 0 {
		return err
	}
	err = r.Patch(ctx, child.object, client.RawPatch(types.JSONPatchType, patch))
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// rivalsInDeployment finds the forms that somebody chose instead of ours, and what rules ours out.
func rivalsInDeployment(deployment *appsv1.Deployment, want *corev1ac.PodSpecApplyConfiguration) []edit {
	const template = "/spec/template/spec"
	var edits []edit
	remove := func(path string, clashes bool) {
		if clashes {
			edits = append(edits, edit{Op: "remove", Path: path})
		}
	}
	if rolling := deployment.Spec.Strategy.RollingUpdate; rolling != nil {
		surge, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, 100, true)
		remove("/spec/strategy/rollingUpdate/maxSurge", err == nil && surge == 0) // one of both must allow a step
	}
	pod := deployment.Spec.Template.Spec
	remove(template+"/terminationGracePeriodSeconds", ptr.Deref(pod.TerminationGracePeriodSeconds, drainSeconds) < drainSeconds)
	remove(template+"/os", pod.OS != nil && pod.OS.Name == corev1.Windows) // which knows none of our security contexts
	if security := pod.SecurityContext; security != nil && security.SeccompProfile != nil && security.SeccompProfile.LocalhostProfile != nil {
		edits = append(edits, edit{"replace", template + "/securityContext/seccompProfile", want.SecurityContext.SeccompProfile})
	}
	ours := want.Containers[0]
	for i, container := range pod.Containers {
		if container.Name != *ours.Name {
			continue
		}
		path := fmt.Sprintf("%s/containers/%d", template, i)
		if security := container.SecurityContext; security != nil { // either is an escalation
			remove(path+"/securityContext/privileged", ptr.Deref(security.Privileged, false))
			for j, added := range slices.Backward(ptr.Deref(security.Capabilities, corev1.Capabilities{}).Add) { // so that no index moves
				remove(fmt.Sprintf("%s/securityContext/capabilities/add/%d", path, j), added == "CAP_SYS_ADMIN")
			}
		}
		if probe := container.ReadinessProbe; probe != nil {
			edits = append(edits, rivalHandlers(path+"/readinessProbe", "tcpSocket", ours.ReadinessProbe.TCPSocket, map[string]bool{
				"exec": probe.Exec != nil, "grpc": probe.GRPC != nil, "httpGet": probe.HTTPGet != nil})...)
		}
		if lifecycle := container.Lifecycle; lifecycle != nil && lifecycle.PreStop != nil {
			edits = append(edits, rivalHandlers(path+"/lifecycle/preStop", "sleep", ours.Lifecycle.PreStop.Sleep, map[string]bool{
				"exec": lifecycle.PreStop.Exec != nil, "httpGet": lifecycle.PreStop.HTTPGet != nil, "tcpSocket": lifecycle.PreStop.TCPSocket != nil})...)
		}
		port := ours.Ports[0]
		for j, rival := range slices.Backward(container.Ports) { // so that no index moves
			remove(fmt.Sprintf("%s/ports/%d", path, j),
				rival.Name == *port.Name && (rival.ContainerPort != *port.ContainerPort || rival.Protocol != *port.Protocol))
		}
	}
	return edits
}

// rivalHandlers puts our handler in the place of those that are there.
func rivalHandlers(path, name string, ours any, there map[string]bool) []edit {
	var edits []edit
	for rival, isThere := range there {
		if isThere {
			edits = append(edits, edit{Op: "remove", Path: path + "/" + rival})
		}
	}
	if len(edits) > 0 {
		edits = append(edits, edit{"add", path + "/" + name, ours})
	}
	return edits
}

// rivalsInService finds the ports that took the place of ours, and what none but a load balancer may have.
func rivalsInService(service *corev1.Service, want *corev1ac.ServicePortApplyConfiguration) []edit {
	edits := rivalPorts(service, want)
	if len(service.Spec.LoadBalancerSourceRanges) > 0 {
		edits = append(edits, edit{Op: "remove", Path: "/spec/loadBalancerSourceRanges"})
	}
	if _, there := service.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]; there {
		key := strings.ReplaceAll(corev1.AnnotationLoadBalancerSourceRangesKey, "/", "~1")
		edits = append(edits, edit{Op: "remove", Path: "/metadata/annotations/" + key})
	}
	return edits
}

// rivalPorts finds in a Service the ports that took the name or the node port of ours under another
// number or protocol.
func rivalPorts(service *corev1.Service, want *corev1ac.ServicePortApplyConfiguration) []edit {
	var edits []edit
	there := false
	for i, port := range slices.Backward(service.Spec.Ports) { // so that no index moves
		same := port.Port == *want.Port && port.Protocol == *want.Protocol
		there = there || same
		if !same && (port.Name == *want.Name || want.NodePort != nil && port.NodePort == *want.NodePort) {
			edits = append(edits, edit{Op: "remove", Path: fmt.Sprintf("/spec/ports/%d", i)})
		}
	}
	if len(edits) > 0 && !there {
		edits = append(edits, edit{"add", "/spec/ports/-", want})
	}
	return edits
}
