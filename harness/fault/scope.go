package fault

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/record"
)

// Scope makes a namespace look like the whole cluster: lists and watches of all namespaces return objects of this
// one.
type Scope struct {
	Namespace string
	// Namespaced tells whether a resource is namespaced; record.ResourceLister knows. nil changes no request, for a run that
	// has the whole cluster.
	Namespaced func(schema.GroupResource) bool
}

// rewrite narrows a request about all namespaces.
func (s Scope) rewrite(request *http.Request, about *record.Request) {
	resource := schema.GroupResource{Group: about.Group, Resource: about.Resource}
	switch {
	case s.Namespaced == nil, about.Verb != "list" && about.Verb != "watch":
	case resource == namespaces:
		s.onlyNamespace(request)
	case about.Namespace == "" && s.Namespaced(resource):
		s.insideNamespace(request, about)
	}
}

var namespaces = schema.GroupResource{Resource: "namespaces"}

// onlyNamespace narrows a list or watch of Namespaces to this one.
func (s Scope) onlyNamespace(request *http.Request) {
	query := request.URL.Query()
	selector := "metadata.name=" + s.Namespace
	if others := query.Get("fieldSelector"); others != "" {
		selector += "," + others
	}
	query.Set("fieldSelector", selector)
	request.URL.RawQuery = query.Encode()
}

// insideNamespace narrows a list or watch of all namespaces to this one. Clients that are not written in Go often watch by
// the older path, in which watch/ precedes the resource.
func (s Scope) insideNamespace(request *http.Request, about *record.Request) {
	where, what, found := strings.Cut(request.URL.Path, "/"+about.Version+"/")
	if !found {
		return
	}
	where += "/" + about.Version + "/"
	if older, isOlder := strings.CutPrefix(what, "watch/"); isOlder {
		where, what = where+"watch/", older
	}
	request.URL.Path = where + "namespaces/" + s.Namespace + "/" + what
	about.Namespace = s.Namespace
}
