package e2e

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

func operatorUndisturbed() scenario.Scenario {
	return catalogue.WebServer.Scenario("operator-undisturbed",
		scenario.Step{Name: "OperatorDidNotRestart", Run: func(ctx context.Context, _ *scenario.Env) error { return operator.CheckRestarts(ctx) }},
	)
}

func uninstall() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("uninstall",
		k.ApplySample(),
		scenario.Step{Name: "DeleteInForeground", IsAction: true, Run: deleteInForeground},
		k.NothingIsLeft(),
		k.ApplySample(),
		k.PodsAreReady(3),
		scenario.Step{Name: "Uninstall", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			env.Detailf("%d objects", len(operator.objects))
			if err := errors.Join(operator.Stop(), operator.Uninstall(ctx)); err != nil {
				return err
			}
			operator = nil
			return nil
		}},
		scenario.Step{Name: "ChildrenAreGone", Run: childrenAreGone},
		scenario.Step{Name: "NamespacesAreGone", Run: func(ctx context.Context, _ *scenario.Env) error { return deleteLeftovers(ctx) }},
	)
}

// deleteInForeground starts a foreground deletion. The deletion completes only after the garbage collector has
// discovered the kind, which takes up to 30s. If the CRD were deleted before that, the children would remain.
func deleteInForeground(ctx context.Context, env *scenario.Env) error {
	return env.Client.Delete(ctx, catalogue.WebServer.Manifest(env), client.PropagationPolicy(metav1.DeletePropagationForeground))
}

func childrenAreGone(ctx context.Context, env *scenario.Env) error {
	return waitFor(ctx, func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.PodList{}} {
			if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
				return err
			}
			if left := meta.LenList(list); left > 0 {
				return fmt.Errorf("got %d items in %T, want 0", left, list)
			}
		}
		return nil
	})
}
