package explore

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

const founderRole = `
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: founder}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create]}
- {apiGroups: [""], resources: [namespaces, services], verbs: [create]}
`

// founder returns an operator that creates a Namespace and copies a ConfigMap into it. A careless operator skips the
// copy if the Namespace already exists. The name of the Namespace has a random suffix, because Namespaces are never
// deleted from the shared control plane.
func founder(name string, careless bool) Operator {
	name += "-" + rand.String(5)
	return operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if apierrors.IsAlreadyExists(err) && careless {
			return reconcile.Result{}, nil
		}
		if client.IgnoreAlreadyExists(err) != nil {
			return reconcile.Result{}, err
		}
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: of.Name}, Data: of.Data}
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, copied))
	}})
}

var founding = story("founder/create", write("A"), converged)

var founderIdentity = sync.OnceValues(func() (*rest.Config, error) {
	return plane.User(context.Background(), "founder", []byte(founderRole))
})

// newFounderExplorer returns an explorer that uses the tests' control plane for both shared and exclusive runs. Tests
// with exclusive runs must not run in parallel. Namespaces that are created in shared runs are never deleted, so shared
// and exclusive runs must create Namespaces with different names.
func newFounderExplorer(t *testing.T, shared, exclusive Operator) *Explorer {
	t.Helper()
	needsControlPlane(t)
	identity, err := founderIdentity()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	explorer, err := New(t.Context(), Options{
		Environment: Environment{ControlPlane: plane, Identity: identity, Operator: shared}, Parallel: 1,
		NewEnvironment: func(ctx context.Context) (Environment, error) {
			return Environment{ControlPlane: plane, Identity: identity, Operator: exclusive}, deleteOriginals(ctx)
		},
		Scenarios: []scenario.Scenario{founding}, StepTimeout: long,
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(explorer.Close)
	explorer.player.learningWindow = shortPause
	return explorer
}

// deleteOriginals deletes the ConfigMaps from earlier runs, so that an operator does not copy them.
func deleteOriginals(ctx context.Context) error {
	var left corev1.ConfigMapList
	if err := plane.Client.List(ctx, &left, client.MatchingLabels{"copy": "true"}); err != nil {
		return err
	}
	for _, of := range left.Items {
		if err := plane.Client.Delete(ctx, &of); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func TestClusterScopedObjectsArePartOfTheState(t *testing.T) {
	g := NewWithT(t)
	plans, err := Parse("founder/create crash-before create namespaces - 1; founder/create crash-after create namespaces - 1", []scenario.Scenario{founding})
	g.Expect(err).NotTo(HaveOccurred())
	explorer := newFounderExplorer(t, founder("careless", true), founder("careless", true))
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	explorer.Options.StepTimeout = max(short, brief) / usual.lateFactor
	results := replay(t, explorer, plans...)
	g.Expect(found(t, results, plans[0].String())).To(BeEmpty())
	g.Expect(found(t, results, plans[1].String())).To(Equal([]verdict.Oracle{verdict.Reference}))
	g.Expect(Report(results, nil).FailureText()).To(MatchRegexp("- ConfigMap/careless-.{5}/web is missing"))
}

func TestClusterScopedKindGetsControlPlane(t *testing.T) {
	g := NewWithT(t)
	kind := rbacv1.SchemeGroupVersion.WithKind("ClusterRole")
	s := scenario.Scenario{Name: "role/create", Subject: kind, Kinds: append(scenario.Scenario{}.Kinds, kind), Steps: []scenario.Step{
		{Name: "Create", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			return env.Client.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "always-the-same"}})
		}},
		converged,
	}}
	explorer := newFounderExplorer(t, founder("founded", false), founder("founded", false))
	g.Expect(explorer.AddScenario(s)).To(Succeed())
	for range 2 {
		g.Eventually(func() ([]oracle.Snapshot, error) { // a controller that is still starting may create other objects
			observed, err := explorer.Observe(t.Context(), s)
			return observed.States, err
		}).WithTimeout(long).Should(HaveExactElements(And(HaveLen(2), HaveKey("ClusterRole.rbac.authorization.k8s.io/always-the-same"), HaveKey("ServiceAccount/default"))))
	}
	explorer.Options.NewEnvironment = nil
	g.Expect(explorer.AddScenario(s)).To(MatchError(ContainSubstring("role/create: ClusterRole is cluster-scoped")))
}

func TestObjectsOfRunAreDeleted(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	explorer := newFounderExplorer(t, founder("founded", false), founder("founded", false))
	p, err := explorer.player.environments.add(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	var node corev1.NodeList
	g.Expect(p.config.ControlPlane.Client.List(ctx, &node)).To(Succeed())
	g.Expect(node.Items).NotTo(BeEmpty())

	namespace, err := p.begin(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	kept := []string{"example.com/kept"}
	labels := map[string]string{"app": "web"}
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}
	left := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "founded"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "founded", Name: "kept", Finalizers: kept}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: kept}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: container}}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: record.OwnPod("founder")}, Spec: container},
	}
	for _, object := range left {
		g.Expect(p.config.ControlPlane.Client.Create(ctx, object)).To(Succeed())
	}
	changed := node.Items[0].DeepCopy()
	changed.SetLabels(map[string]string{"changed": "true"})
	g.Expect(p.config.ControlPlane.Client.Patch(ctx, changed, client.MergeFrom(&node.Items[0]))).To(Succeed())
	g.Expect(p.history.WaitStable(ctx, namespace, settleWindow)).To(Succeed())

	g.Expect(p.reset(ctx, namespace)).To(Succeed())
	for _, object := range append(left, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}) {
		err := p.config.ControlPlane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%T %s: %v", object, object.GetName(), err)
	}
	g.Eventually(p.history.Known).WithTimeout(long).Should(HaveLen(len(p.before)))
	var accounts corev1.ServiceAccountList
	g.Expect(p.config.ControlPlane.Client.List(ctx, &accounts, client.InNamespace(namespace))).To(Succeed())
	g.Expect(accounts.Items).To(BeEmpty(), "objects in the Namespace are deleted")
	g.Eventually(func() ([]corev1.Pod, error) { // controllers may still be deleting the Pods of earlier tests
		var pods corev1.PodList
		err := p.config.ControlPlane.Client.List(ctx, &pods)
		return pods.Items, err
	}).WithTimeout(long).Should(BeEmpty())
	g.Expect(p.config.ControlPlane.Client.Get(ctx, client.ObjectKeyFromObject(changed), changed)).To(Succeed())
	g.Expect(changed.Labels).NotTo(HaveKey("changed"))
	g.Expect(p.config.ControlPlane.Client.Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{})).To(Succeed())
}

// settler returns an operator that copies the scenario's ConfigMap to the operator's own namespace. It sends the name
// of that namespace to a channel.
func settler(homes chan<- string) Operator {
	return func(ctx context.Context, home string, cluster *rest.Config, log io.Writer) error {
		homes <- home
		settle := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
			copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "of-" + of.Name}, Data: of.Data}
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, copied))
		}
		return operator(copier{blind: true, copy: settle})(ctx, home, cluster, log)
	}
}

// The second run must not find objects from the first run in the operator's namespace.
func TestOperatorHasItsOwnNamespace(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	homes, prepared, besides := make(chan string, 10), make(chan string, 10), make(chan string, 10)
	operator := settler(homes)
	explorer := newFounderExplorer(t, operator, operator)
	add := explorer.Options.NewEnvironment
	explorer.Options.NewEnvironment = func(ctx context.Context) (Environment, error) {
		started, err := add(ctx)
		started.Home = "settlers"
		started.Prepare = func(ctx context.Context, namespace string) error {
			prepared <- namespace
			return started.ControlPlane.Client.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kept-by-none"}})
		}
		started.Companions = []Companion{{Name: "companion", Identity: started.ControlPlane.Config, ServesWebhooks: true,
			Operator: func(ctx context.Context, namespace string, _ *rest.Config, _ io.Writer) error {
				besides <- namespace
				<-ctx.Done()
				return ctx.Err()
			}}}
		return started, err
	}
	explorer.player.environments.exclusive.Store(true)
	for range 2 {
		observed, err := explorer.Observe(ctx, founding)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(homes).To(Receive(Equal("settlers")))
		g.Expect(prepared).To(Receive(Equal("settlers")))
		g.Expect(besides).To(Receive(Equal("settlers")))
		g.Expect(observed.Children).To(HaveExactElements(HaveField("Name", "of-web")))
		g.Expect(observed.States).To(HaveExactElements(And(HaveKey("ConfigMap/settlers/of-web"), HaveKey("ConfigMap/web"))))
	}
	g.Expect(plane.Client.Get(ctx, client.ObjectKey{Name: "settlers"}, &corev1.Namespace{})).To(Succeed())

	explorer.player.environments.exclusive.Store(false)
	_, err := explorer.Observe(ctx, founding)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(homes).To(Receive(HavePrefix("run-")), "on the shared control plane, the operator runs in the namespace of the scenario")
}

func TestWrittenClusterWide(t *testing.T) {
	const webhooks = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	k := kinds{schema.ParseGroupResource(webhooks): {clusterScoped: true}, schema.ParseGroupResource("namespaces"): {clusterScoped: true}}
	write := func(target string, created bool) []fault.Write {
		return []fault.Write{{RequestKey: fault.RequestKey{Target: target}, Created: created}}
	}
	for want, writes := range map[string][]fault.Write{
		"":           append(write("configmaps", true), write(webhooks, false)...),
		"namespaces": append(write(webhooks, false), write("namespaces", false)...),
		webhooks:     append(write(webhooks, true), write("namespaces", true)...),
	} {
		if got := k.writtenClusterWide(writes); got != want {
			t.Errorf("%v: %q", writes, got)
		}
	}
}

func TestEnvironmentStartErrorIsReturned(t *testing.T) {
	t.Parallel()
	explorer := newFounderExplorer(t, founder("unfounded", false), nil)
	explorer.Options.NewEnvironment = func(context.Context) (Environment, error) { return Environment{}, errors.New("out of memory") }
	NewWithT(t).Expect(explorer.Check(t.Context())).To(MatchError(ContainSubstring("out of memory")))
}
