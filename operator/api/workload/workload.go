// Package workload holds what every kind of this operator says in the same words: the image it
// runs, and the status of the Pods that run it. It is no API group of its own; the kinds embed it.
//
// +kubebuilder:object:generate=true
package workload

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Image is a container image reference as a container runtime takes it: NAME, NAME:TAG or
// NAME@DIGEST, where NAME may begin with a registry's host. The grammar is that of
// github.com/distribution/reference.
//
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:XValidation:rule="self.matches('^((([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])([.]([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\\\\[[a-fA-F0-9:]+\\\\])(:[0-9]+)?/)?[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}))?$')",message="must be an image reference without blanks, such as nginx:1.23.1 or registry.example.com/team/nginx@sha256:DIGEST"
// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-f0-9]{64}$')",message="must be an image's name, such as nginx:1.23.1, not its ID; a digest follows a name, as in nginx@sha256:DIGEST"
type Image string

// Status is what the operator last observed of a resource's Pods. Changes that only report progress are combined for 400 ms
// and then written at least 2 s apart; other changes are written within 400 ms. The status no longer changes once the
// resource is being deleted, so during foreground deletion it may still say Available after the last Pod has gone.
type Status struct {
	// ObservedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of Pods, all of which nodes names, up to its limit.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is how many of these Pods are ready to serve.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Selector selects the Pods, in the form that the scale subresource wants.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Nodes are the names, sorted, of the Pods that this resource owns through its Deployment and that are
	// neither terminating nor finished: the first 10,000, since an object cannot hold many more.
	// +optional
	// +kubebuilder:validation:MaxItems=10000
	Nodes []string `json:"nodes,omitempty"`

	// Conditions are Available, Progressing and Degraded.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaxNodes is how many Pods a status names at the most.
const MaxNodes = 10000

// The condition types.
const (
	// Available is True while at least one Pod is ready to serve.
	Available = "Available"
	// Progressing is True while the Pods are on their way to what the spec asks for.
	Progressing = "Progressing"
	// Degraded is True while something is wrong that a person may have to act on.
	Degraded = "Degraded"
)

// The reasons that conditions give.
const (
	ReasonPodsReady    = "PodsReady"    // Available: at least one Pod serves.
	ReasonNoPodReady   = "NoPodReady"   // not Available, though Pods are asked for.
	ReasonScaledToZero = "ScaledToZero" // not Available, because no Pods are asked for.

	ReasonRollingOut         = "RollingOut"         // Progressing: Pods are being made, replaced or removed.
	ReasonWaitingForDeletion = "WaitingForDeletion" // Progressing: a child's name belongs to one that is being deleted.
	ReasonComplete           = "Complete"           // not Progressing: every Pod is as the spec asks, and ready.
	ReasonBlocked            = "Blocked"            // not Progressing: Degraded says why.
	ReasonPaused             = "Paused"             // not Progressing, and Degraded: somebody paused the rollout.

	ReasonAsExpected               = "AsExpected"               // not Degraded.
	ReasonNotControlled            = "NotControlled"            // Degraded: a child's name is taken by an object of somebody else.
	ReasonRejected                 = "Rejected"                 // Degraded: the API server refuses a child.
	ReasonContested                = "Contested"                // Degraded: somebody else, or an admission policy, keeps changing a child.
	ReasonPodCreationFailed        = "PodCreationFailed"        // Degraded: Pods cannot be created, by a quota for example.
	ReasonPodsFailing              = "PodsFailing"              // Degraded: a Pod cannot be scheduled now, even if an autoscaler adds a node later, or a container does not run.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded" // Degraded: the rollout has made no progress for too long.
)
