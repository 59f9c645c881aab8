package fault

import (
	"net/http"
	"net/http/httptest"
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

	// An informer with a field selector also sees only this namespace.
	byName := newView(t, client, metav1.NamespaceAll, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = "metadata.name=one"
	}))
	g.Expect(byName.Events()).To(Equal([]string{"add one=changed"}))

	list, err := client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Items).To(HaveLen(1))
	g.Expect(list.Items[0].Namespace).To(Equal(inside))

	// The operator sees no other Namespace object.
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

func TestScopeKeepsOtherRequests(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	inside, _ := newRun(t, "")
	outside, _ := newRun(t, "")
	injector := New(Scope{Namespace: inside, Namespaced: func(resource schema.GroupResource) bool {
		return resource.Resource != "namespaces"
	}})
	client, _ := newInstance(t, injector)
	g.Expect(create(ctx, client, outside, "one")).To(Succeed())
	g.Expect(valueThrough(t, client, outside, "one")).To(Equal("A"))
	list, err := client.CoreV1().ConfigMaps(outside).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=one"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Items).To(HaveLen(1))

	_, err = client.CoreV1().Namespaces().Get(ctx, outside, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	version, err := client.Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version.GitVersion).NotTo(BeEmpty())
}

func TestScopeSupportsWatchPath(t *testing.T) {
	scope := Scope{Namespace: "inside", Namespaced: func(schema.GroupResource) bool { return true }}
	for path, want := range map[string]string{
		"/api/v1/configmaps":                    "/api/v1/namespaces/inside/configmaps",
		"/api/v1/watch/configmaps":              "/api/v1/watch/namespaces/inside/configmaps",
		"/apis/apps/v1/watch/deployments":       "/apis/apps/v1/watch/namespaces/inside/deployments",
		"/apis/example.com/v1/watches":          "/apis/example.com/v1/namespaces/inside/watches",
		"/api/v1/watch/namespaces/one/pods":     "/api/v1/watch/namespaces/one/pods",
		"/api/v1/watch/namespaces/one/pods/web": "/api/v1/watch/namespaces/one/pods/web",
	} {
		t.Run(path, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			scope.rewrite(request, record.Classify(request))
			NewWithT(t).Expect(request.URL.Path).To(Equal(want))
		})
	}
}
