package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/report/results"
)

const (
	// warmUps is the number of resources that are created in a new cluster before the measurements.
	warmUps = 10
	// idleWindow is the duration of the idle phase.
	idleWindow = 10 * time.Second
)

// measure runs a phase, waits until the measured client is idle, and returns the cost. It does not count requests for
// the excluded resources.
func (e *env) measure(ctx context.Context, do func(*results.BenchPhase) error, excluded ...types.NamespacedName) (*results.BenchPhase, error) {
	p := &results.BenchPhase{Resources: e.count}
	before, err := readCPUTimes(e.folder())
	if err != nil {
		return nil, err
	}
	if err := do(p); err != nil {
		return nil, err
	}
	events, err := e.audit.untilIdle(ctx)
	if err != nil {
		return nil, err
	}
	p.Requests = count(slices.DeleteFunc(events, func(request auditv1.Event) bool { return isAbout(request, excluded) }))
	after, err := readCPUTimes(e.folder())
	if err != nil {
		return nil, err
	}
	p.CPU, p.OthersCPU = after.since(before)
	if e.operator != nil {
		p.Memory, err = e.operator.memory()
	}
	return p, err
}

// each calls do for each resource, with up to connections calls in parallel.
func (e *env) each(ctx context.Context, keys []types.NamespacedName, do func(context.Context, types.NamespacedName) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(connections)
	for _, key := range keys {
		group.Go(func() error {
			e.semaphore <- struct{}{}
			defer func() { <-e.semaphore }()
			if err := do(ctx, key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// create creates a resource as the user. If the ideal client is measured, it then creates the children.
func (e *env) create(ctx context.Context, key types.NamespacedName) error {
	owner, err := e.kind.manifest(key, 1)
	if err != nil {
		return err
	}
	if err := e.user.Create(ctx, owner); err != nil || e.ideal == nil {
		return err
	}
	return e.ideal.create(ctx, owner)
}

// warm creates the first resources of a new cluster and returns one whose status is right. Otherwise the first
// measured requests would include one-time work of the API server and the operator.
func (e *env) warm(ctx context.Context) (types.NamespacedName, error) {
	var keys []types.NamespacedName
	for i := range warmUps {
		keys = append(keys, types.NamespacedName{Namespace: warmUp, Name: fmt.Sprintf("template-%05d", i)})
	}
	right := e.observer.when(func() bool {
		return !slices.ContainsFunc(keys, func(key types.NamespacedName) bool {
			s := e.observer.resources[key]
			return s == nil || !s.right
		})
	})
	if err := e.each(ctx, keys, e.create); err != nil {
		return keys[0], err
	}
	if _, err := e.observer.await(ctx, "the status of the first resources is right", right); err != nil {
		return keys[0], err
	}
	_, err := e.audit.untilIdle(ctx)
	return keys[0], err
}

// createAll creates all resources with 1 Pod each.
func (e *env) createAll(ctx context.Context) (*results.BenchPhase, error) {
	return e.measure(ctx, func(p *results.BenchPhase) error { return e.allAtOnce(ctx, p, e.create) })
}

// scaleAll scales all resources to 2 Pods.
func (e *env) scaleAll(ctx context.Context) (*results.BenchPhase, error) {
	e.observer.expect(2)
	return e.measure(ctx, func(p *results.BenchPhase) error {
		return e.allAtOnce(ctx, p, func(ctx context.Context, key types.NamespacedName) error {
			owner := e.kind.empty(key)
			err := e.user.Patch(ctx, owner, client.RawPatch(types.MergePatchType, e.kind.scaling(2)))
			if err != nil || e.ideal == nil {
				return err
			}
			return e.ideal.applyChild(ctx, owner, deployment)
		})
	})
}

// allAtOnce calls do for all resources and waits until their Pods are ready and their status is right.
func (e *env) allAtOnce(ctx context.Context, p *results.BenchPhase, do func(context.Context, types.NamespacedName) error) error {
	ready := e.observer.when(func() bool { return e.observer.ready == e.count })
	right := e.observer.when(func() bool { return e.observer.right == e.count })
	began := time.Now()
	e.observer.startCurve(began, e.count)
	defer func() { p.Curve = e.observer.endCurve() }()
	if err := e.each(ctx, resourceKeys(e.count), do); err != nil {
		return err
	}
	at, err := e.observer.await(ctx, "all Pods are ready", ready)
	if err != nil {
		return err
	}
	p.PodsReady = at.Sub(began).Seconds()
	at, err = e.observer.await(ctx, "every status is right", right)
	p.StatusRight = at.Sub(began).Seconds()
	return err
}

// idle waits for idleWindow.
func (e *env) idle(ctx context.Context) (*results.BenchPhase, error) {
	return e.measure(ctx, func(*results.BenchPhase) error {
		select {
		case <-time.After(idleWindow):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}
