// Package bench measures the cost of the operator on KWOK, compared with an ideal client. Use `make bench` to run it.
//
// Each size N is measured on two new clusters. On the first one, the operator runs as a process with the identity of
// its ServiceAccount. On the second one, an ideal client repeats the operator's writes that create a resource's
// children, writes each status once, and reads nothing. These are the phases:
//
//	create  a user creates N Memcacheds with 1 Pod each, 20 at a time
//	idle    nothing changes (operator only)
//	scale   the user scales all Memcacheds from 1 to 2 Pods
//	heal    the user deletes up to 100 of the Deployments, one after the other
//
// A phase ends when every status is correct and the measured client has sent no request for 3 seconds. The bench counts
// the requests in the API server's audit log, except for watches, leader election and discovery. Their number hardly
// depends on the machine, so each phase has a budget. Times are only meaningful relative to the ideal client and on an
// otherwise idle machine, because the cluster and the bench share its CPUs.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
)

const phaseCreate, phaseIdle, phaseScale, phaseHeal = "create", "idle", "scale", "heal"

var phases = []string{phaseCreate, phaseIdle, phaseScale, phaseHeal}

// budgets maps each phase to the maximum number of requests per resource.
var budgets = map[string]float64{phaseCreate: 4, phaseIdle: 0, phaseScale: 4, phaseHeal: 5}

const (
	// warmUps is the number of resources that are created in a new cluster before measuring, so that the measured
	// requests do not include one-time work of the API server and the operator.
	warmUps    = 10
	idleWindow = 10 * time.Second
	healSample = 100 // the maximum number of Deployments that are deleted
)

func memcached(key types.NamespacedName) *memcachedv1alpha1.Memcached {
	return &memcachedv1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

var artifacts, _ = filepath.Abs(root + "/_artifacts/bench")

// run measures each size in BENCH_N, a comma-separated list. The memory growth is relative to the first size.
func run(ctx context.Context, t *testing.T) *Results {
	r := &Results{CPUs: runtime.NumCPU()}
	for text := range strings.SplitSeq(os.Getenv("BENCH_N"), ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 1 {
			t.Fatalf("invalid BENCH_N=%s: set it to positive numbers, separated by commas", os.Getenv("BENCH_N"))
		}
		r.Sizes = append(r.Sizes, Size{Count: count})
	}
	for i := range r.Sizes {
		size := &r.Sizes[i]
		var warmUp []auditv1.Event
		passed := t.Run(fmt.Sprintf("%d/operator", size.Count), func(t *testing.T) {
			e := newEnv(ctx, t, size.Count)
			r.Kubernetes = e.cluster.Version
			e.startOperator()
			warmUp, size.Operator = e.measureAll()
		}) && t.Run(fmt.Sprintf("%d/ideal client", size.Count), func(t *testing.T) {
			e := newEnv(ctx, t, size.Count)
			e.startIdeal(warmUp)
			_, size.Ideal = e.measureAll()
		})
		if !passed {
			r.Sizes = r.Sizes[:i]
			break
		}
	}
	r.judge()
	return r
}

// measureAll creates the warm-up resources and then measures each phase. It returns the requests that were logged
// during the warm-up, and the measurements by phase.
func (e *env) measureAll() ([]auditv1.Event, map[string]Phase) {
	e.allAtOnce(resourceKeys(warmUps), warmUps, e.create)
	warmUp, err := e.audit.untilIdle()
	e.must(err)
	found := map[string]Phase{}
	for _, name := range phases {
		if e.ideal != nil && name == phaseIdle {
			continue
		}
		began := time.Now()
		p := e.measure(name)
		requests, err := e.audit.untilIdle()
		e.must(err)
		p.Requests, p.Memory = count(requests), e.memory()
		found[name] = p
		e.reporter.Phase(name, time.Since(began), "%.2f requests per resource: %v", p.perResource(), p.Requests)
	}
	return warmUp, found
}

func (e *env) measure(phase string) Phase {
	switch phase {
	case phaseCreate:
		return e.allAtOnce(e.keys, warmUps+len(e.keys), e.create)
	case phaseScale:
		e.observer.expect(2)
		return e.allAtOnce(e.keys, len(e.keys), e.scale)
	case phaseHeal:
		times := make([]float64, min(len(e.keys), healSample))
		for i := range times {
			times[i] = e.heal(e.keys[i*len(e.keys)/len(times)])
		}
		slices.Sort(times)
		return Phase{Resources: len(times), HealP50: times[(len(times)-1)/2]}
	}
	time.Sleep(idleWindow)
	return Phase{Resources: len(e.keys)}
}

// allAtOnce calls a function for all keys in parallel, and waits until the given number of resources are correct.
func (e *env) allAtOnce(keys []types.NamespacedName, correct int, do func(context.Context, types.NamespacedName) error) Phase {
	p, began := Phase{Resources: len(keys)}, time.Now()
	group, ctx := errgroup.WithContext(e.ctx)
	group.SetLimit(cap(e.slots))
	for _, key := range keys {
		group.Go(func() error {
			e.slots <- struct{}{}
			defer func() { <-e.slots }()
			return do(ctx, key)
		})
	}
	e.must(group.Wait())
	e.must(e.observer.await(e.ctx, "all Pods are ready", func() bool { return len(e.observer.ready) == correct }))
	p.AllReady = time.Since(began).Seconds()
	e.must(e.observer.await(e.ctx, "every status is correct", func() bool { return len(e.observer.correct) == correct }))
	p.AllCorrect = time.Since(began).Seconds()
	return p
}

func (e *env) create(ctx context.Context, key types.NamespacedName) error {
	owner := memcached(key)
	owner.Spec.Size = 1
	if err := e.user.Create(ctx, owner); err != nil || e.ideal == nil {
		return err
	}
	return e.ideal.write(ctx, owner, "Deployment", "Event")
}

func (e *env) scale(ctx context.Context, key types.NamespacedName) error {
	owner := memcached(key)
	if err := e.user.Patch(ctx, owner, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":2}}`))); err != nil || e.ideal == nil {
		return err
	}
	return e.ideal.write(ctx, owner, "Deployment")
}

// heal deletes a Deployment and returns how many seconds it took to be recreated. Before returning, it waits until the
// status contains only the new Pods.
func (e *env) heal(key types.NamespacedName) (seconds float64) {
	owner := memcached(key)
	e.must(e.user.Get(e.ctx, key, owner))
	began := time.Now()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	e.must(e.user.Delete(e.ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	if e.ideal != nil {
		e.must(e.ideal.write(e.ctx, owner, "Deployment"))
	}
	e.must(e.observer.await(e.ctx, "the status contains the new Pods", func() bool {
		r := e.observer.resources[key]
		seconds = r.since.Sub(began).Seconds()
		return seconds > 0 && e.observer.correct.Has(key) && !slices.ContainsFunc(owner.Status.Nodes, func(old string) bool { return slices.Contains(r.names(), old) })
	}))
	return seconds
}
