package explore

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
)

// exposing creates a Service with a fixed node port, which only one run at a time can allocate.
func (c *copier) exposing(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	service := &corev1.Service{}
	service.Name, service.Namespace = of.Name, of.Namespace
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30123}}}
	return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, service))
}

func TestFixedNodePortSerializesRuns(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).exposing, blind: true}),
		story("copier/expose", write("A"), converged), story("copier/expose-again", write("A"), converged))
	results := explore(t, explorer, fault.Latency)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(results).NotTo(BeEmpty())
}
