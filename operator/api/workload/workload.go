// Package workload contains the API types shared by all of this operator's kinds: the image and the Pod status. The
// kinds embed them. The package is not an API group.
//
// +kubebuilder:object:generate=true
package workload

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Image is a container image reference: NAME, NAME:TAG or NAME@DIGEST. NAME may begin with a registry host. The syntax
// is defined by github.com/distribution/reference.
//
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:XValidation:rule="self.matches('^((([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])([.]([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\\\\[[a-fA-F0-9:]+\\\\])(:[0-9]+)?/)?[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}))?$')",message="must be an image reference without blanks, such as nginx:1.23.1 or registry.example.com/team/nginx@sha256:DIGEST"
// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-f0-9]{64}$')",message="must be an image's name, such as nginx:1.23.1, not its ID; a digest follows a name, as in nginx@sha256:DIGEST"
type Image string

// Status is the observed state of a resource's Pods. A new reason for Degraded and the completion of a rollout are
// written immediately, the progress of a rollout within 5 s, and any other change within 400 ms. The status no longer
// changes once the resource is being deleted, so during foreground deletion it may still say Available after the last
// Pod has gone.
type Status struct {
	// ObservedGeneration is the metadata.generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of active Pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of active Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Selector is the label selector for the Pods. It is a string, because the scale subresource requires that format.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Nodes are the sorted names of the active Pods: the Pods that this resource owns through its Deployment and that
	// are neither terminating nor finished. Only the first 10,000 names are listed, because the size of an object is
	// limited.
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	Nodes []string `json:"nodes,omitempty"`

	// Conditions are Available, Progressing and Degraded.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Condition returns the condition of the given type, or the zero value if the status does not contain it.
func (s *Status) Condition(conditionType string) metav1.Condition {
	if c := meta.FindStatusCondition(s.Conditions, conditionType); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// MaxNodes is the maximum length of Status.Nodes.
const MaxNodes = 10000

// The condition types.
const (
	// Available is True while at least one Pod is ready.
	Available = "Available"
	// Progressing is True while the operator or the Deployment controller changes the Pods to match the spec.
	Progressing = "Progressing"
	// Degraded is True while there is a problem that a user may have to fix.
	Degraded = "Degraded"
)

// The reasons of the conditions.
const (
	ReasonPodsReady    = "PodsReady"    // Available: at least one Pod is ready.
	ReasonNoPodReady   = "NoPodReady"   // not Available: no Pod is ready, although the spec requests Pods.
	ReasonScaledToZero = "ScaledToZero" // not Available: the spec requests 0 Pods.

	ReasonRollingOut         = "RollingOut"         // Progressing: Pods are being created, replaced or removed, including while a user has paused the Deployment or a failed write is retried.
	ReasonWaitingForDeletion = "WaitingForDeletion" // Progressing: a previous child with the same name is being deleted. Also Degraded: a finalizer prevents the deletion.
	ReasonComplete           = "Complete"           // not Progressing: every Pod is up to date and ready. The minReadySeconds of the Deployment do not count.
	ReasonBlocked            = "Blocked"            // not Progressing: a problem prevents it, see Degraded.

	ReasonAsExpected               = "AsExpected"               // not Degraded.
	ReasonNotControlled            = "NotControlled"            // Degraded: the name of a child is used by an object that this resource does not control.
	ReasonRejected                 = "Rejected"                 // Degraded: the API server rejects a child, or the operator repeatedly fails to write it.
	ReasonContested                = "Contested"                // Degraded: another client keeps changing or deleting a child or added fields that cannot be read, or an admission policy changes the child.
	ReasonPodCreationFailed        = "PodCreationFailed"        // Degraded: Pods cannot be created, for example because of a quota.
	ReasonPodsFailing              = "PodsFailing"              // Degraded: a container does not run, or a Pod cannot be scheduled yet, even if an autoscaler may still add a node.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded" // Degraded: the rollout has made no progress for too long. Also not Progressing, unless a new spec is being applied.
)
