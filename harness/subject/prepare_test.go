package subject

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
)

func TestResourcesAreInstalledByScope(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	kinds := meta.NewDefaultRESTMapper([]schema.GroupVersion{version})
	kinds.Add(version.WithKind("Settings"), meta.RESTScopeRoot)
	kinds.Add(version.WithKind("Profile"), meta.RESTScopeNamespace)
	var created []string
	writer := fake.NewClientBuilder().WithRESTMapper(kinds).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			created = append(created, object.GetNamespace()+"/"+object.GetName())
			return nil
		},
	}).Build()
	resource := func(kind, name string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(version.WithKind(kind))
		object.SetNamespace("of-the-manifests")
		object.SetName(name)
		return object
	}
	install := &project.Install{Resources: []*unstructured.Unstructured{resource("Settings", "settings"), resource("Profile", "profile")}}
	p := &environment{plane: &controlplane.ControlPlane{Client: writer}}
	g.Expect(p.installResources(ctx, install, "")).To(Succeed())
	g.Expect(created).To(Equal([]string{"/settings"}))
	for _, namespace := range []string{"run-1", "run-2"} {
		g.Expect(p.installResources(ctx, install, namespace)).To(Succeed())
	}
	g.Expect(created).To(Equal([]string{"/settings", "run-1/profile", "run-2/profile"}))

	install.Resources = []*unstructured.Unstructured{resource("Setting", "unknown")}
	err := p.installResources(ctx, install, "")
	g.Expect(err).To(BeAssignableToTypeOf(InputError{}))
	g.Expect(err).To(MatchError(HavePrefix("installing Setting unknown: ")))
}
