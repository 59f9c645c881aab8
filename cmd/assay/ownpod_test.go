package main

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/test/harness/project"
	"github.com/operator-assay/assay/test/harness/scenario/scenarioyaml"
)

// TestAnOperatorKnowsItsPodAfterARestart has the operators of two namespaces start.
func TestAnOperatorKnowsItsPodAfterARestart(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	rendered, err := project.Render("../../operator/config/default")
	g.Expect(err).NotTo(HaveOccurred())
	install, err := project.ReadInstall(rendered, "")
	g.Expect(err).NotTo(HaveOccurred())
	of := &subject{binary: "/bin/manager", install: install, catalogue: &scenarioyaml.File{}}
	writer := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID("of " + types.UID(object.GetNamespace()))
			return to.Create(ctx, object, options...)
		},
	}).Build()
	p := &place{}
	for _, namespace := range []string{"run-1", "run-2"} {
		g.Expect(p.pods.create(ctx, writer, install.Manager, namespace)).To(Succeed())
	}
	for range 2 {
		c := p.container(of)("run-1")
		pod := &corev1.Pod{}
		g.Expect(writer.Get(ctx, client.ObjectKey{Namespace: "run-1", Name: c.Hostname}, pod)).To(Succeed())
		g.Expect(p.pods.uid("run-1")).To(Equal(pod.UID))
	}
	g.Expect(p.pods.create(ctx, writer, install.Manager, "run-1")).To(MatchError(ContainSubstring("installing the operator's Pod")))
	g.Expect(p.pods.uid("run-3")).To(BeEmpty())
}
