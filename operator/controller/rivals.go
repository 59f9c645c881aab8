package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Server-side apply leaves what others set, and so it cannot repair a field that allows but one of
// several forms: when somebody probes by HTTP instead of by TCP, an apply adds our handler to theirs,
// and the API server refuses a probe with two. Such rivals are edited away first, and nothing else is.

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

// rivalsInPods finds in a Deployment's template the forms that somebody chose instead of ours.
func rivalsInPods(deployment *appsv1.Deployment, want *corev1ac.PodSpecApplyConfiguration) []edit {
	const template = "/spec/template/spec"
	var edits []edit
	pod := deployment.Spec.Template.Spec
	if security := pod.SecurityContext; security != nil && security.SeccompProfile != nil && security.SeccompProfile.LocalhostProfile != nil {
		edits = append(edits, edit{"replace", template + "/securityContext/seccompProfile", want.SecurityContext.SeccompProfile})
	}
	ours := want.Containers[0]
	for i, container := range pod.Containers {
		if container.Name != *ours.Name {
			continue
		}
		path := fmt.Sprintf("%s/containers/%d", template, i)
		if probe := container.ReadinessProbe; probe != nil {
			edits = append(edits, rivalHandlers(path+"/readinessProbe", "tcpSocket", ours.ReadinessProbe.TCPSocket, map[string]bool{
				"exec": probe.Exec != nil, "grpc": probe.GRPC != nil, "httpGet": probe.HTTPGet != nil})...)
		}
		if lifecycle := container.Lifecycle; lifecycle != nil && lifecycle.PreStop != nil {
			edits = append(edits, rivalHandlers(path+"/lifecycle/preStop", "sleep", ours.Lifecycle.PreStop.Sleep, map[string]bool{
				"exec": lifecycle.PreStop.Exec != nil, "httpGet": lifecycle.PreStop.HTTPGet != nil})...)
		}
		port := ours.Ports[0]
		for j, rival := range slices.Backward(container.Ports) { // so that no index moves
			if rival.Name == *port.Name && (rival.ContainerPort != *port.ContainerPort || rival.Protocol != *port.Protocol) {
				edits = append(edits, edit{Op: "remove", Path: fmt.Sprintf("%s/ports/%d", path, j)})
			}
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
