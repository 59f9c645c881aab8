package explore

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

func TestFixedNodePortIsDetected(t *testing.T) {
	g := NewWithT(t)
	run := func(ports ...int64) *recording {
		r := &recording{injector: fault.New(fault.Scope{})}
		for _, port := range ports {
			service := version("Service", "web", nil)
			service.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}, map[string]any{"port": int64(81), "nodePort": port}}}
			r.outcome.history = append(r.outcome.history, service)
		}
		return r
	}
	g.Expect(needNodePort([]*recording{run(30001, 30002), run(30003, 30002), run(30002)})).To(BeTrue())
	g.Expect(needNodePort([]*recording{run(30001), run(30001), run(30002)})).To(BeFalse())
	g.Expect(needNodePort([]*recording{run(), run()})).To(BeFalse(), "port 80 is not a node port")

	const inUse = `Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated`
	refused := record.Request{Verb: "create", Resource: "services", Status: 422, Message: inUse}
	g.Expect(isPortConflict(refused)).To(BeTrue())
	for _, other := range []record.Request{
		{Verb: "create", Resource: "services", Status: 201},
		{Verb: "get", Resource: "services", Status: 422, Message: inUse},
		{Verb: "create", Resource: "pods", Status: 422, Message: inUse},
		{Verb: "create", Group: "serving.knative.dev", Resource: "services", Status: 422, Message: inUse},
		{Verb: "create", Resource: "services", Status: 422, Message: `Service "web" is invalid: spec.ports: Required value`},
	} {
		g.Expect(isPortConflict(other)).To(BeFalse(), other.String())
	}
}

const fixedPort = 30080

func onFixedPort(namespace string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: fixedPort}}}}
}

// freePort deletes the Service that uses the fixed port, if there is one.
func freePort(ctx context.Context) error {
	var services corev1.ServiceList
	if err := plane.Client.List(ctx, &services); err != nil {
		return err
	}
	for _, service := range services.Items {
		if service.Spec.Ports[0].NodePort == fixedPort {
			return client.IgnoreNotFound(plane.Client.Delete(ctx, &service))
		}
	}
	return nil
}

// The explorer detects a fixed port if the API server rejects a Service or if all runs use the same port.
func TestFixedNodePortNeedsExclusiveControlPlane(t *testing.T) {
	serving := operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		err := c.Create(ctx, onFixedPort(of.Namespace))
		if apierrors.IsInvalid(err) { // the run ends sooner without retries
			err = nil
		}
		return reconcile.Result{}, client.IgnoreAlreadyExists(err)
	}})
	for name, prepare := range map[string]func(*testing.T, *scenario.Scenario){
		"port in use": func(t *testing.T, _ *scenario.Scenario) {
			NewWithT(t).Expect(plane.Client.Create(t.Context(), onFixedPort("default"))).To(Succeed())
		},
		"port free in each run": func(_ *testing.T, s *scenario.Scenario) {
			free := scenario.Step{Name: "FreePort", Run: func(ctx context.Context, _ *scenario.Env) error { return freePort(ctx) }}
			s.Steps = append([]scenario.Step{free}, s.Steps...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			explorer := newFounderExplorer(t, serving, serving)
			add := explorer.Options.NewEnvironment
			explorer.Options.NewEnvironment = func(ctx context.Context) (Environment, error) {
				if err := freePort(ctx); err != nil {
					return Environment{}, err
				}
				return add(ctx)
			}
			prepare(t, &explorer.Options.Scenarios[0])
			g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
			g.Expect(explorer.learner.reference(founding.Name).exclusive).To(BeTrue())
		})
	}
}
