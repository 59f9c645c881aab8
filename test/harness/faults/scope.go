package faults

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// Scope makes a namespace look like the whole cluster: what the operator lists and watches in all
// namespaces, it gets of this one. The zero value changes nothing.
type Scope struct {
	Namespace string
	// Namespaced tells whether a resource's objects live in namespaces; oracle.Inventory knows.
	Namespaced func(schema.GroupResource) bool
}

// apply rewrites a request that is about all namespaces.
func (s Scope) apply(request *http.Request, about *oracle.Request) {
	resource := schema.GroupResource{Group: about.Group, Resource: about.Resource}
	switch {
	case s.Namespace == "", about.Namespace != "", about.Verb != "list" && about.Verb != "watch", !s.Namespaced(resource):
		return
	}
	where, what, found := strings.Cut(request.URL.Path, "/"+about.Version+"/")
	if found {
		request.URL.Path = where + "/" + about.Version + "/namespaces/" + s.Namespace + "/" + what
		about.Namespace = s.Namespace
	}
}
