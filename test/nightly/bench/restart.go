package bench

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/operator-assay/assay/harness/report/results"
)

// startProbes is the maximum number of Deployments that are deleted while the operator is not running.
const startProbes = 20

// restart stops the operator, deletes some Deployments, and starts the operator again. It does not count requests for
// the resources of these Deployments.
func (e *env) restart(ctx context.Context) (*results.BenchPhase, error) {
	if err := e.stopOperator(); err != nil {
		return nil, err
	}
	probes := sample(resourceKeys(e.count), startProbes)
	for _, key := range probes {
		s, _ := e.observer.stateOf(key)
		gone := e.observer.when(func() bool { return s.deployment == "" && s.clean() })
		if err := e.deleteDeployment(ctx, key); err != nil {
			return nil, err
		}
		if _, err := e.observer.await(ctx, "the Pods of a deleted Deployment are gone", gone); err != nil {
			return nil, err
		}
	}
	if _, err := e.audit.untilIdle(ctx); err != nil {
		return nil, err
	}
	healed := e.observer.when(func() bool {
		return !slices.ContainsFunc(probes, func(key types.NamespacedName) bool { return e.observer.resources[key].deployment == "" })
	})
	right := e.observer.when(func() bool { return e.observer.right == e.count })

	return e.measure(ctx, func(p *results.BenchPhase) error {
		began := time.Now()
		if err := e.startOperator(ctx); err != nil {
			return err
		}
		at, err := e.observer.await(ctx, "the deleted Deployments exist again", healed)
		if err != nil {
			return err
		}
		p.Repaired = at.Sub(began).Seconds()
		at, err = e.observer.await(ctx, "every status is right after a start", right)
		p.StatusRight = at.Sub(began).Seconds()
		return err
	}, probes...)
}

// isAbout reports whether a request is for one of the resources, or for one of their children or Events, whose names
// start with the name of the resource.
func isAbout(request auditv1.Event, keys []types.NamespacedName) bool {
	return slices.ContainsFunc(keys, func(key types.NamespacedName) bool {
		return request.ObjectRef.Namespace == key.Namespace && strings.HasPrefix(request.ObjectRef.Name, key.Name)
	})
}
