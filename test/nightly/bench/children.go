package bench

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/report/results"
)

// healSample is the maximum number of Deployments that are deleted, one at a time.
const healSample = 100

// deleteChildren deletes a sample of the Deployments, one at a time, and measures how long the operator needs to
// recreate them.
func (e *env) deleteChildren(ctx context.Context) (*results.BenchPhase, error) {
	return e.measure(ctx, func(p *results.BenchPhase) error {
		keys := sample(resourceKeys(e.count), healSample)
		var healed, right []time.Duration
		for _, key := range keys {
			h, r, err := e.heal(ctx, key)
			if err != nil {
				return err
			}
			healed, right = append(healed, h), append(right, r)
		}
		p.Resources, p.Healed, p.HealedStatus = len(keys), quantiles(healed), quantiles(right)
		return nil
	})
}

// heal deletes a Deployment and measures the time until it is recreated, and until the status contains the new Pods.
// It returns after all objects of the old Deployment have been removed.
func (e *env) heal(ctx context.Context, key types.NamespacedName) (healed, right time.Duration, err error) {
	owner := e.kind.empty(key)
	if err := e.user.Get(ctx, key, owner); err != nil {
		return 0, 0, err
	}
	s, old := e.observer.stateOf(key)
	isNew := func() bool { return s.deployment != old && s.deployment != "" }
	newOne := e.observer.when(isNew)
	statusRight := e.observer.when(func() bool { return isNew() && s.right })
	clean := e.observer.when(func() bool { return isNew() && s.right && s.clean() })

	began := time.Now()
	if err := e.deleteDeployment(ctx, key); err != nil {
		return 0, 0, err
	}
	if e.ideal != nil {
		if err := e.ideal.applyChild(ctx, owner, deployment); err != nil {
			return 0, 0, err
		}
	}
	at, err := e.observer.await(ctx, "there is a new Deployment", newOne)
	if err != nil {
		return 0, 0, err
	}
	healed = at.Sub(began)
	if at, err = e.observer.await(ctx, "the status names the new Pods", statusRight); err != nil {
		return 0, 0, err
	}
	right = at.Sub(began)
	_, err = e.observer.await(ctx, "the old Pods are gone", clean)
	return healed, right, err
}

func (e *env) deleteDeployment(ctx context.Context, key types.NamespacedName) error {
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return e.user.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
}
