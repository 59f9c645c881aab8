package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/operator/api/workload"
)

// PodsAreReady waits until the status reports, for the current generation, that the given number of Pods are ready and
// the rollout is complete. It also waits for the Deployment's status, because a later change to it would trigger a
// reconcile and could hide a missing watch from the next step.
func (k TestKind) PodsAreReady(replicas int32) scenario.Step {
	return k.waitUntil(fmt.Sprintf("PodsAreReady(%d)", replicas), func(ctx context.Context, env *scenario.Env, s Observed) error {
		env.Detailf("%d of %d ready", s.ReadyReplicas, replicas)
		deployment, err := k.deployment(ctx, env)
		return errors.Join(err,
			equal("availableReplicas of the Deployment", deployment.Status.AvailableReplicas, replicas),
			s.conditionIs(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady),
			s.conditionIs(workload.Progressing, metav1.ConditionFalse, workload.ReasonComplete),
			s.conditionIs(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected),
			equal("status.readyReplicas", s.ReadyReplicas, replicas),
			equal("status.replicas", s.Replicas, replicas),
		)
	})
}

// NothingServes waits until no Pod is active and the status reports that the resource is scaled to zero.
func (k TestKind) NothingServes() scenario.Step {
	return k.waitUntil("NothingServes", func(ctx context.Context, env *scenario.Env, s Observed) error {
		pods, err := k.activePods(ctx, env)
		return errors.Join(err,
			s.conditionIs(workload.Available, metav1.ConditionFalse, workload.ReasonScaledToZero),
			s.conditionIs(workload.Progressing, metav1.ConditionFalse, workload.ReasonComplete),
			s.conditionIs(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected),
			equal("Pods", len(pods), 0),
			equal("status.nodes", len(s.Nodes), 0),
		)
	})
}

// ConditionIs waits until a condition has the given status and reason for the current generation.
func (k TestKind) ConditionIs(condition string, status metav1.ConditionStatus, reason string) scenario.Step {
	name := condition
	if status != metav1.ConditionTrue {
		name = "Not" + condition
	}
	return k.waitUntil(fmt.Sprintf("%s(%s)", name, reason), func(_ context.Context, env *scenario.Env, s Observed) error {
		if c := meta.FindStatusCondition(s.Conditions, condition); c != nil {
			env.Detailf("%s", c.Message)
		}
		return s.conditionIs(condition, status, reason)
	})
}

// StatusNamesThePods waits until status.nodes contains exactly the active Pods, sorted by name.
func (k TestKind) StatusNamesThePods() scenario.Step {
	return k.waitUntil("StatusNamesThePods", func(ctx context.Context, env *scenario.Env, s Observed) error {
		pods, err := k.activePods(ctx, env)
		if err != nil {
			return err
		}
		names := slices.Sorted(maps.Values(pods))
		env.Detailf("%d Pods", len(names))
		return equal("status.nodes", strings.Join(s.Nodes, " "), strings.Join(names, " "))
	})
}

// RememberedPodsStay checks that all remembered Pods are still active.
func (k TestKind) RememberedPodsStay() scenario.Step {
	return compare("RememberedPodsStay", keyPods, k.activePods, func(_ context.Context, env *scenario.Env, old, living map[types.UID]string) error {
		for uid, name := range old {
			if _, lives := living[uid]; !lives {
				return fmt.Errorf("Pod %s is gone", name)
			}
		}
		env.Detailf("%d of %d", len(old), len(old))
		return nil
	})
}

// EveryPodIsReplaced waits until all remembered Pods have been replaced by the same number of new Pods.
func (k TestKind) EveryPodIsReplaced() scenario.Step {
	return compare("EveryPodIsReplaced", keyPods, k.activePods, func(_ context.Context, env *scenario.Env, old, living map[types.UID]string) error {
		for uid, name := range living {
			if _, remains := old[uid]; remains {
				return fmt.Errorf("Pod %s still runs", name)
			}
		}
		env.Detailf("%d of %d", len(living), len(old))
		return equal("Pods", len(living), len(old))
	})
}

// DeploymentIsRepaired waits until the Deployment's fields are restored and another client's annotation is still there.
func (k TestKind) DeploymentIsRepaired() scenario.Step {
	return compare("DeploymentIsRepaired", keyDeployment, k.deployment, func(_ context.Context, _ *scenario.Env, old, deployment *appsv1.Deployment) error {
		return errors.Join(
			equal("Deployment's UID", deployment.UID, old.UID),
			equal("spec.replicas", *deployment.Spec.Replicas, *old.Spec.Replicas),
			equal("image", deployment.Spec.Template.Spec.Containers[0].Image, old.Spec.Template.Spec.Containers[0].Image),
			equal("managed-by label", deployment.Labels["app.kubernetes.io/managed-by"], old.Labels["app.kubernetes.io/managed-by"]),
			equal("foreign annotation", deployment.Annotations["example.com/note"], "not the operator's"),
		)
	})
}

// NothingIsLeft waits until the resource and all of its descendants are deleted.
func (k TestKind) NothingIsLeft() scenario.Step {
	return scenario.Step{Name: "NothingIsLeft", Run: func(ctx context.Context, env *scenario.Env) error {
		kinds := k.Scenario("").Kinds
		return env.WaitFor(ctx, func(ctx context.Context) error {
			for _, gvk := range kinds {
				left := &unstructured.UnstructuredList{}
				left.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
				if err := env.Client.List(ctx, left, client.InNamespace(env.Namespace)); err != nil {
					return err
				}
				if len(left.Items) > 0 {
					return fmt.Errorf("%s %s is still there", gvk.Kind, left.Items[0].GetName())
				}
			}
			return nil
		})
	}}
}

func (k TestKind) waitUntil(name string, check func(context.Context, *scenario.Env, Observed) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error {
			s, err := k.get(ctx, env)
			if err != nil {
				return err
			}
			return check(ctx, env, s)
		})
	}}
}

// compare returns a step that calls read until check accepts the value that is stored under the key and the new value.
func compare[T any](name, key string, read func(context.Context, *scenario.Env) (T, error), check func(ctx context.Context, env *scenario.Env, old, now T) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		old, err := scenario.Get[T](env, key)
		if err != nil {
			return err
		}
		return env.WaitFor(ctx, func(ctx context.Context) error {
			now, err := read(ctx, env)
			if err != nil {
				return err
			}
			return check(ctx, env, old, now)
		})
	}}
}

// activePods returns the names of the active Pods by UID. Each scenario has its own namespace, so it lists all Pods.
func (k TestKind) activePods(ctx context.Context, env *scenario.Env) (map[types.UID]string, error) {
	pods := &corev1.PodList{}
	if err := env.Client.List(ctx, pods, client.InNamespace(env.Namespace)); err != nil {
		return nil, err
	}
	living := map[types.UID]string{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			living[pod.UID] = pod.Name
		}
	}
	return living, nil
}

// conditionIs checks the status and the reason of a condition. The condition must describe the current generation.
func (s Observed) conditionIs(kind string, status metav1.ConditionStatus, reason string) error {
	c := meta.FindStatusCondition(s.Conditions, kind)
	switch {
	case c == nil:
		return fmt.Errorf("there is no condition %s", kind)
	case c.ObservedGeneration != s.GetGeneration():
		return fmt.Errorf("condition %s has observedGeneration %d, want %d", kind, c.ObservedGeneration, s.GetGeneration())
	case c.Status != status || c.Reason != reason:
		return fmt.Errorf("condition %s: got status %s and reason %s, want %s and %s", kind, c.Status, c.Reason, status, reason)
	}
	return nil
}

func equal[T comparable](what string, is, should T) error {
	if is != should {
		return fmt.Errorf("%s: got %v, want %v", what, is, should)
	}
	return nil
}
