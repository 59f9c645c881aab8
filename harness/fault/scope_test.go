package fault

import (
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"

	"github.com/operator-assay/assay/harness/record"
)

func TestScopeLimitsListsAndWatches(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	inside, _ := newRun(t, "")
	outside, _ := newRun(t, "")
	injector := New(Scope{Namespace: inside, Namespaced: func(resource schema.GroupResource) bool {
		return resource.Resource != "namespaces"
	}})
	for _, namespace := range []string{inside, outside} {
		set(t, namespace, "one", "in "+namespace)
	}
	client, _ := newInstance(t, injector)

	view := newView(t, client, metav1.NamespaceAll)
	g.Expect(view.Events()).To(Equal([]string{"add one=in " + inside}))
	set(t, outside, "one", "changed outside")
	set(t, inside, "one", "changed")
	g.Eventually(view.Events).Should(Equal([]string{"add one=in " + inside, "update one=changed"}))

	// Requests with a field selector are also restricted to the namespace.
	byName := newView(t, client, metav1.NamespaceAll, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = "metadata.name=one"
	}))
	g.Expect(byName.Events()).To(Equal([]string{"add one=changed"}))

	list, err := client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Items).To(HaveLen(1))
	g.Expect(list.Items[0].Namespace).To(Equal(inside))

	for selector, want := range map[string][]string{"": {inside}, "metadata.name=" + inside: {inside}, "metadata.name=" + outside: {}} {
		namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{FieldSelector: selector})
		g.Expect(err).NotTo(HaveOccurred())
		names := []string{}
		for _, namespace := range namespaces.Items {
			names = append(names, namespace.Name)
		}
		g.Expect(names).To(Equal(want), selector)
	}
}

func TestScopeRewritesPath(t *testing.T) {
	scope := Scope{Namespace: "inside", Namespaced: func(resource schema.GroupResource) bool { return resource.Resource != "nodes" }}
	for request, want := range map[string]string{
		"GET /api/v1/configmaps":                    "/api/v1/namespaces/inside/configmaps",
		"GET /apis/apps/v1/deployments":             "/apis/apps/v1/namespaces/inside/deployments",
		"GET /api/v1/watch/configmaps":              "/api/v1/watch/namespaces/inside/configmaps", // used by clients in other languages
		"GET /apis/apps/v1/watch/deployments":       "/apis/apps/v1/watch/namespaces/inside/deployments",
		"GET /apis/example.com/v1/watches":          "/apis/example.com/v1/namespaces/inside/watches",
		"GET /api/v1/watch/namespaces/one/pods":     "/api/v1/watch/namespaces/one/pods",
		"GET /api/v1/watch/namespaces/one/pods/web": "/api/v1/watch/namespaces/one/pods/web",
		"GET /api/v1/namespaces/one/configmaps":     "/api/v1/namespaces/one/configmaps",
		"GET /api/v1/namespaces/one":                "/api/v1/namespaces/one",
		"GET /api/v1/nodes":                         "/api/v1/nodes",
		"GET /version":                              "/version",
		"POST /api/v1/namespaces/one/configmaps":    "/api/v1/namespaces/one/configmaps",
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			request := httptest.NewRequest(method, path, nil)
			scope.rewrite(request, record.Classify(request))
			NewWithT(t).Expect(request.URL.String()).To(Equal(want))
		})
	}
}
