// Package v1 is the API group my.domain: a WebServer runs a web server's image behind a node port.
//
// +kubebuilder:object:generate=true
// +groupName=my.domain
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "my.domain", Version: "v1"}

// AddToScheme registers the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &WebServer{}, &WebServerList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
