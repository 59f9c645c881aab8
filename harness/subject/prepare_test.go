package subject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
	"github.com/operator-assay/assay/harness/webhook"
)

func TestResourcesAreInstalledByScope(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	kinds := meta.NewDefaultRESTMapper([]schema.GroupVersion{version})
	kinds.Add(version.WithKind("Settings"), meta.RESTScopeRoot)
	kinds.Add(version.WithKind("Profile"), meta.RESTScopeNamespace)
	kinds.Add(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), meta.RESTScopeNamespace)
	var created []string
	writer := fake.NewClientBuilder().WithRESTMapper(kinds).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			created = append(created, object.GetNamespace()+"/"+object.GetName())
			if object.GetName() == "existing" {
				return apierrors.NewAlreadyExists(schema.GroupResource{}, "")
			}
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
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "existing"}}}
	install := &project.Install{Resources: []*unstructured.Unstructured{account, resource("Settings", "settings"), resource("Profile", "profile")}}
	p := &environment{plane: &controlplane.ControlPlane{Client: writer}}
	g.Expect(p.installResources(ctx, install, "")).To(Succeed())
	g.Expect(created).To(Equal([]string{"/settings"}))
	for _, namespace := range []string{"run-1", "run-2"} {
		g.Expect(p.installResources(ctx, install, namespace)).To(Succeed())
	}
	g.Expect(created).To(Equal([]string{"/settings", "run-1/existing", "run-1/profile", "run-2/existing", "run-2/profile"}))

	for _, wrong := range []*unstructured.Unstructured{resource("Setting", "unknown"), resource("Settings", "existing")} {
		install.Resources = []*unstructured.Unstructured{wrong}
		err := p.installResources(ctx, install, "")
		g.Expect(err).To(BeAssignableToTypeOf(InputError{}))
		g.Expect(err).To(MatchError(HavePrefix("installing " + wrong.GetKind() + " " + wrong.GetName() + ": ")))
		_, isStatus := errors.AsType[*apierrors.StatusError](err)
		g.Expect(isStatus).To(BeFalse(), "it would be reported as a rejected sample")
	}
}

func readInstall(t *testing.T, source, manager string, companions ...string) *project.Install {
	t.Helper()
	rendered, err := project.Render(source)
	noError(t, err)
	install, err := project.ReadInstall(rendered, manager, companions...)
	noError(t, err)
	return install
}

func TestPodSurvivesRestart(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	install := readInstall(t, "../../operator/config/default", "")
	of := &Program{Binary: "/bin/manager", manager: install.Manager}
	writer := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(types.UID(object.GetNamespace() + " " + object.GetName()))
			return to.Create(ctx, object, options...)
		},
	}).Build()
	p := &environment{plane: &controlplane.ControlPlane{Client: writer}}
	for _, namespace := range []string{"run-1", "run-2"} {
		g.Expect(p.createPod(ctx, install.Manager, namespace)).To(Succeed())
	}
	for range 2 {
		c := p.container("", of)("run-1")
		pod := &corev1.Pod{}
		g.Expect(writer.Get(ctx, client.ObjectKey{Namespace: "run-1", Name: c.Hostname}, pod)).To(Succeed())
		g.Expect(p.podUID("run-1", install.Manager.Name())).To(Equal(pod.UID))
	}
	companion, err := project.ReadInstall(append(install.Rendered, webhookCompanion), "webhook")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.createPod(ctx, companion.Manager, "run-1")).To(Succeed())
	g.Expect(p.podUID("run-1", "webhook")).NotTo(Or(BeEmpty(), Equal(p.podUID("run-1", install.Manager.Name()))))
	g.Expect(p.createPod(ctx, install.Manager, "run-1")).To(MatchError(ContainSubstring("installing the Pod of assay-controller-manager")))
	g.Expect(p.podUID("run-3", install.Manager.Name())).To(BeEmpty())
}

var webhookCompanion = unstructured.Unstructured{Object: map[string]any{
	"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "webhook"},
	"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "webhook"}}}}},
}}

const ofPods = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec:
  template:
    spec:
      containers:
      - {name: manager, image: manager, env: [{name: UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]}
`

// TestPodIsCreatedBeforeWebhooks uses an operator with a webhook for Pods. The webhook is not running
// yet when the operator's own Pod is created.
func TestPodIsCreatedBeforeWebhooks(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "install.yaml")
	g.Expect(os.WriteFile(file, []byte(ofPods), 0o644)).To(Succeed())
	install := readInstall(t, file, "")
	router, err := webhook.NewRouter()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = router.Close() })
	admit := func(ctx context.Context, object client.Object, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		review := fmt.Sprintf(`{"kind": "AdmissionReview", "request": {"namespace": %q}}`, object.GetNamespace())
		response := httptest.NewRecorder()
		router.ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodPost, "/admit/manager/9443/pods", strings.NewReader(review)))
		if response.Code != http.StatusOK {
			return errors.New(response.Body.String())
		}
		return nil
	}
	writer := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := admit(ctx, object, time.Minute); err != nil {
				return err
			}
			return to.Create(ctx, object, options...)
		},
	}).Build()
	of := &Subject{install: install, catalogue: &scenarioyaml.File{}}
	prepare := of.prepare(&environment{plane: &controlplane.ControlPlane{Client: writer}, webhooks: router})
	g.Expect(prepare(t.Context(), "run-1")).To(Succeed())
	child := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "run-1"}}
	g.Expect(admit(t.Context(), child, time.Second/2)).NotTo(Succeed(), "the API server waits for the webhook")
}
