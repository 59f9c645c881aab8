package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/operator-assay/assay/operator/api/workload"
)

// WebServerSpec defines the desired state of a WebServer.
type WebServerSpec struct {
	// Image is the web server's image.
	// +required
	Image workload.Image `json:"image"`

	// Replicas is the desired number of Pods. 0 removes all Pods but keeps the Service and its node port.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// Port is the port that the image listens on. The Service's own port is 80.
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// NodePort is the port on which every node serves this WebServer, within the API server's default range.
	// If it is not set, the API server allocates a port, and the WebServer keeps it until this field is set.
	// While another Service has the port, the WebServer is Degraded, and its Service is neither created nor changed.
	// The operator retries at least every 5 min, and immediately after a change to the spec. If the API server crashes
	// while it creates the Service, Kubernetes frees the port after some minutes.
	// +optional
	// +kubebuilder:validation:Minimum=30000
	// +kubebuilder:validation:Maximum=32767
	NodePort int32 `json:"nodePort,omitempty"`
}

// WebServerStatus is the observed state of a WebServer.
type WebServerStatus struct {
	workload.Status `json:",inline"`

	// NodePort is the port on which every node serves this WebServer. A recreated Service gets the same port, unless
	// spec.nodePort specifies another one. While the WebServer is Degraded or waits until a previous Service is deleted,
	// the port may belong to another Service, and the WebServer may not be reachable on it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	NodePort int32 `json:"nodePort,omitempty"`
}

// WebServer runs replicas of a web server image and exposes them on a node port, using a Deployment of the same name
// and a Service named NAME-service.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ws,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Node-Port",type=integer,JSONPath=`.status.nodePort`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Degraded",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Degraded")].reason`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,53}[a-z0-9])?$')",message="metadata.name must have at most 55 characters, so that NAME-service can name the Service, and be a DNS-1035 label: lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.nodePort) || has(self.status) && has(self.status.nodePort) && (self.status.nodePort == oldSelf.status.nodePort || has(self.spec.nodePort) && self.status.nodePort == self.spec.nodePort)",message="status.nodePort cannot be removed or changed directly: set spec.nodePort to change it"
type WebServer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WebServerSpec `json:"spec"`
	// +optional
	Status WebServerStatus `json:"status,omitempty"`
}

// CommonStatus returns the part of the status that all kinds share.
func (w *WebServer) CommonStatus() *workload.Status { return &w.Status.Status }

// DesiredReplicas returns the number of Pods that the spec requests.
func (w *WebServer) DesiredReplicas() int32 { return ptr.Deref(w.Spec.Replicas, 1) }

// WebServerList is a list of WebServers.
//
// +kubebuilder:object:root=true
type WebServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WebServer `json:"items"`
}
