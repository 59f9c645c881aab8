package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

// MemcachedSpec defines the desired state of a Memcached.
type MemcachedSpec struct {
	// Size is how many memcached servers run.
	// +required
	// +kubebuilder:validation:Minimum=0
	Size int32 `json:"size"`

	// Image is the memcached image.
	// +optional
	// +kubebuilder:default="memcached:1.6.39-alpine"
	Image workload.Image `json:"image,omitempty"`
}

// MemcachedStatus is the observed state of a Memcached.
type MemcachedStatus struct {
	workload.Status `json:",inline"`
}

// Memcached runs memcached servers in a Deployment with the same name as the resource.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=memcacheds,shortName=mc,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Degraded",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Degraded")].reason`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name must have at most 63 characters and be a DNS label: lower-case letters, digits and '-', beginning and ending with a letter or digit"
type Memcached struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec MemcachedSpec `json:"spec"`
	// +optional
	Status MemcachedStatus `json:"status,omitempty"`
}

// CommonStatus returns the part of the status that all kinds share.
func (m *Memcached) CommonStatus() *workload.Status { return &m.Status.Status }

// DesiredReplicas returns the number of Pods that the spec requests.
func (m *Memcached) DesiredReplicas() int32 { return m.Spec.Size }

// MemcachedList is a list of Memcacheds.
//
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memcached `json:"items"`
}
