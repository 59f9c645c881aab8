package subject

import (
	"io"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

const patchedCRD = "{resources: [notices.yaml], patches: [{target: {kind: CustomResourceDefinition}, patch: '- {op: add, path: /spec/names/shortNames, value: [patched]}'}]}"

// exported is a manifest that was exported from a cluster. It contains a Namespace and a sample.
const exported = `{apiVersion: v1, kind: Namespace, metadata: {name: own, uid: "1", resourceVersion: "1"}}
---
apiVersion: example.com/v1
kind: Notice
metadata:
  name: shop
  uid: "2"
  resourceVersion: "7"
  generation: 3
  creationTimestamp: "2026-01-01T00:00:00Z"
  deletionTimestamp: "2026-01-01T00:00:00Z"
  managedFields: [{manager: kubectl, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: absent, uid: "3"}]
spec: {text: hello, level: info, number: 1}
status: {phase: Ready}
`

// TestOperatorRunsInManifestNamespace runs an operator whose manifests deploy it to the system namespace. The home
// directory is not writable. The CRDs come from a kustomization, and the operator is bound to built-in roles. The
// sample is cluster-scoped, so each run has its own control plane.
func TestOperatorRunsInManifestNamespace(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	g := NewWithT(t)
	t.Chdir("../../test/fixtures/defaulter")
	folder := t.TempDir()
	crd, err := os.ReadFile("config/default/crd.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	write(t, folder, "crd/notices.yaml", string(crd))
	write(t, folder, "crd/kustomization.yaml", patchedCRD)
	write(t, folder, "notice.yaml", exported)
	s, err := Read(t.Context(), Options{Main: "./cmd/controller", Install: "config/default/controller.yaml", CRDs: []string{folder + "/crd"}, Samples: []string{folder + "/notice.yaml"}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.Close)
	g.Expect(s.Build(t.Context(), io.Discard)).To(Succeed())
	s.install.Manager.NamespaceRules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}}
	s.install.Manager.NamespaceRoles, s.install.Manager.ClusterRoles = []string{"cluster-admin"}, []string{"view", "gathering"}
	role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "gathering"}}
	s.install.Resources = append(s.install.Resources, &unstructured.Unstructured{Object: role})
	assets, err := binaries.Ensure(t.Context(), "", io.Discard, controlplane.Binaries...)
	g.Expect(err).NotTo(HaveOccurred())
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	t.Setenv("HOME", os.DevNull)
	t.Setenv("XDG_CACHE_HOME", "")
	started, err := s.Start(t.Context(), 0, io.Discard)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(started.Close()).To(Succeed()) })
	g.Expect(started.Explorer.Options.Environment.Home).To(Equal("system"))

	invented, err := started.Invent(t.Context(), "notice/create")
	g.Expect(err).NotTo(HaveOccurred())
	observed, err := started.Explorer.Observe(t.Context(), invented.Scenarios[0].Scenario) // must not conflict with the first run
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Children).NotTo(BeEmpty())
	g.Expect(started.environments).To(HaveLen(2), "a shared control plane and an exclusive one")
	plane := started.environments[1].plane
	g.Expect(plane.Client.Get(t.Context(), client.ObjectKey{Name: "system"}, &corev1.Namespace{})).To(Succeed())
	installed := &unstructured.Unstructured{}
	installed.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	g.Expect(plane.Client.Get(t.Context(), client.ObjectKey{Name: "notices.example.com"}, installed)).To(Succeed())
	g.Expect(installed.Object).To(HaveKeyWithValue("spec", HaveKeyWithValue("names", HaveKeyWithValue("shortNames", ConsistOf("patched")))))
}

func TestSingleNamespaceOperatorHasNoHome(t *testing.T) {
	g := NewWithT(t)
	const watching = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller-manager, namespace: shop-system}, spec: {template: {spec: {containers: [{name: manager, args: [--namespace=shop-system]}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager}, subjects: [{kind: ServiceAccount, name: default, namespace: shop-system}]}
`
	newProject(t, map[string]string{"config/default/install.yaml": watching})
	s := &Subject{catalogue: &scenarioyaml.File{}, options: Options{}}
	g.Expect(s.home()).To(BeEmpty(), "without manifests")
	g.Expect(s.readSettings(t.Context())).To(Succeed())
	g.Expect(s.readInstall(t.Context())).To(Succeed())
	g.Expect(s.home()).To(BeEmpty())
}
