// Package bench measures the cost of the operator on KWOK, compared with an ideal client. Use `make bench` to run it.
//
// Each size N is measured on two new clusters. On the first one, the operator runs as a process with the identity of its
// ServiceAccount. On the second one, an ideal client repeats the operator's writes that create a resource's children,
// writes each status once, and reads nothing. These are the phases:
//
//	create  a user creates N resources with 1 Pod each, 20 at a time
//	idle    nothing changes (operator only)
//	scale   the user scales all resources from 1 to 2 Pods
//	heal    the user deletes up to 100 of the Deployments, one after the other
//
// A phase ends when every status is correct and the measured client has sent no request for 3 seconds. The bench counts
// the requests in the API server's audit log, except for watches, leader election and discovery. The number of requests
// hardly depends on the machine, so each phase has a budget. Times are only meaningful relative to the ideal client and
// on an otherwise idle machine, because the cluster and the bench share its CPUs.
package bench

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/operator/config"
)

const (
	phaseCreate = "create"
	phaseIdle   = "idle"
	phaseScale  = "scale"
	phaseHeal   = "heal"
)

var phases = []string{phaseCreate, phaseIdle, phaseScale, phaseHeal}

const (
	// warmUps is the number of resources that are created in a new cluster before measuring, so that the measured
	// requests do not include one-time work of the API server and the operator.
	warmUps    = 10
	idleWindow = 10 * time.Second
	healSample = 100 // the maximum number of Deployments that are deleted
)

type kind struct {
	sample   *unstructured.Unstructured
	replicas string // the spec field with the number of Pods
	// budgets maps each phase to the maximum number of requests per resource.
	budgets map[string]float64
}

// kinds contains the valid values of BENCH_KIND.
var kinds = map[string]kind{
	"memcached": {parse(config.MemcachedSample), "size", map[string]float64{phaseCreate: 4, phaseIdle: 0, phaseScale: 4, phaseHeal: 5}},
	"webserver": {parse(config.WebServerSample), "replicas", map[string]float64{phaseCreate: 6, phaseIdle: 0, phaseScale: 4, phaseHeal: 5}},
}

func parse(sample []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(sample, object); err != nil {
		panic(err) // the sample is embedded
	}
	return object
}

// resource returns an object with only its kind, namespace and name set.
func (k kind) resource(key types.NamespacedName) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(k.sample.GroupVersionKind())
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

// artifacts is the directory for bench.json and logs.
var artifacts, _ = filepath.Abs(root + "/_artifacts/bench")

// run measures each kind in BENCH_KIND with each number of resources in BENCH_N. Both are comma-separated lists.
func run(ctx context.Context, t *testing.T) *Results {
	r := &Results{CPUs: runtime.NumCPU(), Slopes: map[string]float64{}}
	sizes, err := parseSizes(os.Getenv("BENCH_N"), cmp.Or(os.Getenv("BENCH_KIND"), "memcached"))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		kind, reporter := kinds[size.Kind], report.New(os.Stdout)
		var warmUp []auditv1.Event
		passed := t.Run(fmt.Sprintf("%d %s/operator", size.Count, size.Kind), func(t *testing.T) {
			e := newEnv(ctx, t, kind, size.Count, reporter)
			r.Kubernetes = e.cluster.Version
			e.startOperator()
			warmUp, size.Operator = e.measureAll(reporter)
		}) && t.Run(fmt.Sprintf("%d %s/ideal client", size.Count, size.Kind), func(t *testing.T) {
			e := newEnv(ctx, t, kind, size.Count, reporter)
			e.startIdeal(warmUp)
			_, size.Ideal = e.measureAll(reporter)
		})
		if !passed {
			return r
		}
		r.add(size)
	}
	return r
}

// parseSizes returns a Size for each combination of a count and a kind. It sorts them by count, because the memory
// growth of a kind is measured relative to its smallest count.
func parseSizes(counts, names string) (sizes []Size, err error) {
	for name := range strings.SplitSeq(names, ",") {
		for text := range strings.SplitSeq(counts, ",") {
			count, err := strconv.Atoi(text)
			if err != nil || count < 1 || kinds[name].sample == nil {
				return nil, fmt.Errorf("cannot measure %s of %s: set BENCH_N to positive numbers, and BENCH_KIND to memcached, webserver or memcached,webserver", text, name)
			}
			sizes = append(sizes, Size{Kind: name, Count: count})
		}
	}
	slices.SortStableFunc(sizes, func(a, b Size) int { return cmp.Compare(a.Count, b.Count) })
	return sizes, nil
}

// measureAll creates the warm-up resources and then measures every phase. It returns the requests that were sent for
// the warm-up resources, and the measurements by phase.
func (e *env) measureAll(reporter *report.Report) ([]auditv1.Event, map[string]Phase) {
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
		reporter.Phase(name, time.Since(began), "%.2f requests per resource: %v", p.perResource(), p.Requests)
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
	case phaseHeal: // the Deployments are deleted one after the other
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

// allAtOnce calls do for the given keys in parallel. It then waits until the given number of resources have ready Pods
// and a correct status.
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
	owner := e.kind.resource(key)
	owner.Object["spec"] = e.kind.sample.DeepCopy().Object["spec"]
	owner.Object["spec"].(map[string]any)[e.kind.replicas] = int64(1)
	if err := e.user.Create(ctx, owner); err != nil || e.ideal == nil {
		return err
	}
	return e.ideal.write(ctx, owner)
}

func (e *env) scale(ctx context.Context, key types.NamespacedName) error {
	owner := e.kind.resource(key)
	patch := fmt.Appendf(nil, `{"spec":{%q:2}}`, e.kind.replicas)
	if err := e.user.Patch(ctx, owner, client.RawPatch(types.MergePatchType, patch)); err != nil || e.ideal == nil {
		return err
	}
	return e.ideal.write(ctx, owner, "Deployment")
}

// heal deletes a Deployment and returns how many seconds it took to be recreated. Before returning, it waits until the
// status contains only the new Pods.
func (e *env) heal(key types.NamespacedName) (seconds float64) {
	owner := e.kind.resource(key)
	e.must(e.user.Get(e.ctx, key, owner))
	var r *resource
	var old []string
	e.observer.change(key, func(found *resource) { r, old = found, found.names() })
	began := time.Now()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	e.must(e.user.Delete(e.ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	if e.ideal != nil {
		e.must(e.ideal.write(e.ctx, owner, "Deployment"))
	}
	e.must(e.observer.await(e.ctx, "the status contains the new Pods", func() bool {
		seconds = r.since.Sub(began).Seconds()
		return seconds > 0 && e.observer.correct[key] && !slices.ContainsFunc(r.names(), func(name string) bool { return slices.Contains(old, name) })
	}))
	return seconds
}
