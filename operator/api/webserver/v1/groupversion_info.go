// Package v1 contains the API types of the group my.domain. Its kind WebServer describes a web server that is exposed
// on a node port.
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

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &WebServer{}, &WebServerList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
