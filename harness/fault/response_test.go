package fault

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// TestClientWithoutJSONReadsResponses uses clients that support only one encoding.
func TestClientWithoutJSONReadsResponses(t *testing.T) {
	for _, contentType := range encodings {
		g := NewWithT(t)
		injector := New(Scope{}, Fault{Error409, RequestKey{"update", "configmaps", "one", 1}})
		config, instance := injector.NewInstance(&rest.Config{Host: "http://server", Transport: &server{code: http.StatusOK}, QPS: -1})
		t.Cleanup(instance.End)
		config.ContentType, config.AcceptContentTypes = contentType, contentType
		config.NegotiatedSerializer = runtime.NewSimpleNegotiatedSerializer(serializerOf(contentType))
		config.GroupVersion, config.APIPath = &coordinationv1.SchemeGroupVersion, "/apis"
		client, err := rest.RESTClientFor(config)
		g.Expect(err).NotTo(HaveOccurred())

		lease := &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: metav1.ObjectMeta{Name: "leader"}}
		var created coordinationv1.Lease
		g.Expect(client.Post().Namespace("run").Resource("leases").Body(lease).Do(t.Context()).Into(&created)).To(Succeed(), contentType)
		g.Expect(created.Name).To(Equal("leader"), contentType)
		err = client.Get().Namespace("run").Resource("leases").Name("other").Do(t.Context()).Error()
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s: %v", contentType, err)
		err = client.Put().AbsPath("/api/v1/namespaces/run/configmaps/one").Do(t.Context()).Error()
		g.Expect(err).To(MatchError(injected), contentType)
	}
}
