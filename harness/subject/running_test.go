package subject

import (
	"context"
	"io"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// tenant returns a scenario that creates the sample. The sample is cluster-scoped, so each run needs its own control
// plane.
func tenant(s *Subject) scenario.Scenario {
	kind := s.samples[0].Resource.GroupVersionKind()
	return scenario.Scenario{Name: "tenant/create", Subject: kind, Kinds: []schema.GroupVersionKind{kind}, Steps: []scenario.Step{
		{Name: "Create", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			return env.Client.Create(ctx, s.samples[0].Resource.DeepCopy())
		}},
		{Name: "Converged", Run: func(ctx context.Context, env *scenario.Env) error { return env.Converge(ctx) }},
	}}
}

// TestOperatorRunsInManifestNamespace runs an operator whose manifests deploy it in tenants-system. The home directory
// is not writable.
func TestOperatorRunsInManifestNamespace(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	g := NewWithT(t)
	t.Chdir("../../test/fixtures/tenants")
	s, err := Read(t.Context(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.Close)
	g.Expect(s.Build(t.Context(), io.Discard)).To(Succeed())
	s.install.Manager.NamespaceRules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}}
	assets, err := binaries.Ensure(t.Context(), "", io.Discard, controlplane.Binaries...)
	g.Expect(err).NotTo(HaveOccurred())
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	t.Setenv("HOME", os.DevNull)
	t.Setenv("XDG_CACHE_HOME", "")
	started, err := s.Start(t.Context(), 0, io.Discard)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(started.Close()).To(Succeed()) })
	g.Expect(started.Explorer.Options.Environment.Home).To(Equal("tenants-system"))

	for range 2 { // the objects of the first run must not conflict with those of the second
		observed, err := started.Explorer.Observe(t.Context(), tenant(s))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(observed.Children).NotTo(BeEmpty())
	}
	g.Expect(started.environments).To(HaveLen(2), "a shared control plane and an exclusive one")
	g.Expect(started.environments[1].plane.Client.Get(t.Context(), client.ObjectKey{Name: "tenants-system"}, &corev1.Namespace{})).To(Succeed())
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
