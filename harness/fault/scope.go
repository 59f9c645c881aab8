package fault

import (
	"net/http"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/record"
)

// Scope makes a namespace look like the whole cluster: lists and watches of all namespaces return only its objects.
type Scope struct {
	Namespace string
	// Namespaced reports whether a resource is namespaced. Use record.ResourceLister to implement it. If it is nil,
	// requests are not changed. Leave it nil for a run that has its own cluster.
	Namespaced func(schema.GroupResource) bool
}

func (s Scope) rewrite(request *http.Request, about *record.Request) {
	resource := schema.GroupResource{Group: about.Group, Resource: about.Resource}
	switch {
	case s.Namespaced == nil, about.Verb != "list" && about.Verb != "watch":
	case resource == namespaces:
		query := request.URL.Query()
		selectors := append([]string{"metadata.name=" + s.Namespace}, query["fieldSelector"]...)
		query.Set("fieldSelector", strings.Join(selectors, ","))
		request.URL.RawQuery = query.Encode()
	case about.Namespace == "" && s.Namespaced(resource):
		where, what := path.Split(path.Clean(request.URL.Path))
		request.URL.Path = where + "namespaces/" + s.Namespace + "/" + what
	}
}

var namespaces = schema.GroupResource{Resource: "namespaces"}
