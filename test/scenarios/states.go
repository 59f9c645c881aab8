package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// PodsAreReady waits until the status says, of the spec as it is, that so many Pods serve and that
// nothing more is to come.
func (k Kind) PodsAreReady(replicas int32) scenario.Step {
	return k.becomes(fmt.Sprintf("PodsAreReady(%d)", replicas), func(_ context.Context, w *scenario.Env, s subject) error {
		w.Detailf("%d of %d ready", s.ReadyReplicas, replicas)
		return errors.Join(
			s.is(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady),
			s.is(workload.Progressing, metav1.ConditionFalse, workload.ReasonComplete),
			s.is(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected),
			same("status.readyReplicas", s.ReadyReplicas, replicas),
			same("status.replicas", s.Replicas, replicas),
		)
	})
}

// NothingServes waits until the status says that no Pod runs because none is asked for.
func (k Kind) NothingServes() scenario.Step {
	return k.becomes("NothingServes", func(ctx context.Context, w *scenario.Env, s subject) error {
		pods, err := k.livingPods(ctx, w)
		return errors.Join(err,
			s.is(workload.Available, metav1.ConditionFalse, workload.ReasonScaledToZero),
			s.is(workload.Progressing, metav1.ConditionFalse, workload.ReasonComplete),
			s.is(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected),
			same("Pods", len(pods), 0),
			same("status.nodes", len(s.Nodes), 0),
		)
	})
}

// ConditionIs waits until a condition is so, of the spec as it is.
func (k Kind) ConditionIs(condition string, status metav1.ConditionStatus, reason string) scenario.Step {
	name := condition
	if status != metav1.ConditionTrue {
		name = "Not" + condition
	}
	return k.becomes(fmt.Sprintf("%s(%s)", name, reason), func(_ context.Context, w *scenario.Env, s subject) error {
		if c := meta.FindStatusCondition(s.Conditions, condition); c != nil {
			w.Detailf("%s", c.Message)
		}
		return s.is(condition, status, reason)
	})
}

// StatusNamesThePods waits until status.nodes names, sorted, just the Pods that live.
func (k Kind) StatusNamesThePods() scenario.Step {
	return k.becomes("StatusNamesThePods", func(ctx context.Context, w *scenario.Env, s subject) error {
		pods, err := k.livingPods(ctx, w)
		if err != nil {
			return err
		}
		var names []string
		for _, name := range pods {
			names = append(names, name)
		}
		slices.Sort(names)
		w.Detailf("%s", endings(names))
		return same("status.nodes", strings.Join(s.Nodes, " "), strings.Join(names, " "))
	})
}

// endings are what tells Pods of one Deployment apart: the last part of their names.
func endings(names []string) string {
	var last []string
	for _, name := range names {
		last = append(last, name[strings.LastIndex(name, "-")+1:])
	}
	return strings.Join(last, " ")
}

// RememberedPodsStay checks that every remembered Pod still lives.
func (k Kind) RememberedPodsStay() scenario.Step {
	return k.comparePods("RememberedPodsStay", func(w *scenario.Env, old, living map[types.UID]string) error {
		for uid, name := range old {
			if _, lives := living[uid]; !lives {
				return fmt.Errorf("Pod %s is gone", name)
			}
		}
		w.Detailf("%d of %d", len(old), len(old))
		return nil
	})
}

// OneRememberedPodIsReplaced waits until as many Pods live as are remembered, all of these but one among them.
func (k Kind) OneRememberedPodIsReplaced() scenario.Step {
	return k.comparePods("OneRememberedPodIsReplaced", func(w *scenario.Env, old, living map[types.UID]string) error {
		stayed := 0
		for uid := range old {
			if _, lives := living[uid]; lives {
				stayed++
			}
		}
		w.Detailf("%d of %d stayed", stayed, len(old))
		return errors.Join(same("Pods", len(living), len(old)), same("Pods that stayed", stayed, len(old)-1))
	})
}

// EveryPodIsReplaced waits until none of the remembered Pods lives and as many others do.
func (k Kind) EveryPodIsReplaced() scenario.Step {
	return k.comparePods("EveryPodIsReplaced", func(w *scenario.Env, old, living map[types.UID]string) error {
		for uid, name := range living {
			if _, remains := old[uid]; remains {
				return fmt.Errorf("Pod %s still runs", name)
			}
		}
		w.Detailf("%d of %d", len(living), len(old))
		return same("Pods", len(living), len(old))
	})
}

// DeploymentIsRestored waits until another Deployment stands where one was deleted.
func (k Kind) DeploymentIsRestored() scenario.Step {
	return k.awaitDeployment("DeploymentIsRestored", func(old, deployment *appsv1.Deployment) error {
		if deployment.UID == old.UID {
			return errors.New("the deleted Deployment is still there")
		}
		return nil
	})
}

// DeploymentIsRepaired waits until what was tampered with is as before, and checks that what
// somebody else added has stayed.
func (k Kind) DeploymentIsRepaired() scenario.Step {
	return k.awaitDeployment("DeploymentIsRepaired", func(old, deployment *appsv1.Deployment) error {
		return errors.Join(
			same("Deployment's UID", deployment.UID, old.UID),
			same("spec.replicas", *deployment.Spec.Replicas, *old.Spec.Replicas),
			same("image", deployment.Spec.Template.Spec.Containers[0].Image, old.Spec.Template.Spec.Containers[0].Image),
			same("managed-by label", deployment.Labels["app.kubernetes.io/managed-by"], old.Labels["app.kubernetes.io/managed-by"]),
			same("foreign annotation", deployment.Annotations["example.com/note"], "not the operator's"),
		)
	})
}

// NothingIsLeft waits until the resource and all that it owned, down to the Pods, are gone.
func (k Kind) NothingIsLeft() scenario.Step {
	return scenario.Step{Name: "NothingIsLeft", Run: func(ctx context.Context, w *scenario.Env) error {
		kinds := k.Tell("").Kinds
		return w.WaitFor(ctx, func(ctx context.Context) error {
			for _, gvk := range kinds {
				left := &unstructured.UnstructuredList{}
				left.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
				if err := w.Client.List(ctx, left, client.InNamespace(w.Namespace)); err != nil {
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

// NoChildIsDisowned checks that the operator has taken no object of this story for a stranger's.
func (k Kind) NoChildIsDisowned() scenario.Step {
	return scenario.Step{Name: "NoChildIsDisowned", Run: func(ctx context.Context, w *scenario.Env) error {
		events := &eventsv1.EventList{}
		if err := w.Client.List(ctx, events, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == workload.ReasonNotControlled && event.Regarding.Kind == k.Kind {
				return fmt.Errorf("it warned of %s: %s", event.Reason, event.Note)
			}
		}
		return nil
	}}
}

// becomes is a step that waits for the resource to be as check wants it.
func (k Kind) becomes(name string, check func(context.Context, *scenario.Env, subject) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, w *scenario.Env) error {
		return w.WaitFor(ctx, func(ctx context.Context) error {
			s, err := k.read(ctx, w)
			if err != nil {
				return err
			}
			return check(ctx, w, s)
		})
	}}
}

func (k Kind) comparePods(name string, check func(w *scenario.Env, old, living map[types.UID]string) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, w *scenario.Env) error {
		old, err := scenario.Get[map[types.UID]string](w, thePods)
		if err != nil {
			return err
		}
		return w.WaitFor(ctx, func(ctx context.Context) error {
			living, err := k.livingPods(ctx, w)
			if err != nil {
				return err
			}
			return check(w, old, living)
		})
	}}
}

func (k Kind) awaitDeployment(name string, check func(old, deployment *appsv1.Deployment) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, w *scenario.Env) error {
		old, err := scenario.Get[*appsv1.Deployment](w, theDeployment)
		if err != nil {
			return err
		}
		return w.WaitFor(ctx, func(ctx context.Context) error {
			deployment, err := k.deployment(ctx, w)
			if err != nil {
				return err
			}
			return check(old, deployment)
		})
	}}
}

// livingPods are the names, by UID, of the namespace's Pods that are neither terminating nor
// finished. A scenario has its namespace to itself, so that no label is needed to tell whose they are.
func (k Kind) livingPods(ctx context.Context, w *scenario.Env) (map[types.UID]string, error) {
	pods := &corev1.PodList{}
	if err := w.Client.List(ctx, pods, client.InNamespace(w.Namespace)); err != nil {
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

// is checks a condition, which must speak of the spec as it is now.
func (s subject) is(kind string, status metav1.ConditionStatus, reason string) error {
	c := meta.FindStatusCondition(s.Conditions, kind)
	switch {
	case c == nil:
		return fmt.Errorf("there is no condition %s", kind)
	case c.ObservedGeneration != s.GetGeneration():
		return fmt.Errorf("condition %s speaks of generation %d, not %d", kind, c.ObservedGeneration, s.GetGeneration())
	case c.Status != status || c.Reason != reason:
		return fmt.Errorf("%s is %s because of %s, not %s because of %s", kind, c.Status, c.Reason, status, reason)
	default:
		return nil
	}
}

// same compares what is with what should be.
func same[T comparable](what string, is, should T) error {
	if is != should {
		return fmt.Errorf("%s is %v, not %v", what, is, should)
	}
	return nil
}
