package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/wait"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

const healthyPerKind = 10

// TestFailuresDoNotDelayOthers creates resources whose children are always rejected, and then healthy resources, which
// must become ready within their budget. Each kind has twice as many failing resources as workers, so healthy resources
// would have to wait if retries blocked the workers.
func TestFailuresDoNotDelayOthers(t *testing.T) {
	ctx, history := t.Context(), newHistory(t, corev1.SchemeGroupVersion.WithKind("ResourceQuota"))
	var recorder record.Recorder
	config := rest.CopyConfig(identity)
	config.Wrap(recorder.Wrap)
	startOperator(t, config)
	rejected, err := plane.CreateNamespace(ctx, "rejected")
	noError(t, err)
	healthy, err := plane.CreateNamespace(ctx, "healthy")
	noError(t, err)
	createQuota(t, history, rejected, "0", "count/deployments.apps", corev1.ResourceServices)
	failing := createEach(t, rejected, 2*controller.Workers)
	start := time.Now()
	createEach(t, healthy, healthyPerKind)
	noError(t, waitComplete(ctx, history, healthy, 2*healthyPerKind))
	took := time.Since(start)

	web, cache := scenarios.Budgets["webserver/create"], scenarios.Budgets["memcached/create"]
	least, most := healthyPerKind*(web.Writes+cache.Writes), healthyPerKind*(web.Most(took)+cache.Most(took))
	writes := recorder.Requests().Filter(record.InNamespace(healthy)).Writes()
	t.Logf("%d healthy resources were ready after %s and %d writes; the budget is %d to %d", 2*healthyPerKind, took.Round(time.Millisecond), len(writes), least, most)
	if len(writes) < least || len(writes) > most {
		t.Errorf("got %d writes for %d resources of each kind, want %d to %d\n%s", len(writes), healthyPerKind, least, most, writes.Table())
	}
	var tries map[string][]time.Time
	noError(t, wait.For(ctx, sharedTimeout, wait.Poll(100*time.Millisecond), func(context.Context) error {
		tries = map[string][]time.Time{}
		for _, request := range recorder.Requests(record.InNamespace(rejected), record.Request.IsWrite) {
			if request.Target() == "deployments.apps" && request.Status == http.StatusForbidden {
				tries[request.Name] = append(tries[request.Name], request.Time)
			}
		}
		for _, name := range failing {
			if len(tries[name]) < 2 {
				return fmt.Errorf("got %d rejected writes of Deployment %s, want a retry", len(tries[name]), name)
			}
		}
		return nil
	}))
	for name, times := range tries { // the delay is one second and doubles after each retry
		span := times[len(times)-1].Sub(times[0])
		if most := 1 + int(math.Log2(1+span.Seconds())); len(times) > most {
			t.Errorf("got %d rejected writes of Deployment %s within %s, want at most %d", len(times), name, span, most)
		}
	}
}

// createEach creates resources of each kind and returns their names.
func createEach(t *testing.T, namespace string, number int) (names []string) {
	t.Cleanup(func() { deleteResources(namespace) })
	for i := range number {
		for _, s := range subjects {
			r := walkResource{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1), pods: 1, image: s.Images.From}
			noError(t, plane.Client.Create(t.Context(), r.object(namespace)))
			names = append(names, r.name)
		}
	}
	return names
}

// createQuota creates a quota and waits until the quota controller enforces it.
func createQuota(t *testing.T, history *record.History, namespace, limit string, names ...corev1.ResourceName) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"}}
	quota.Spec.Hard = corev1.ResourceList{}
	for _, name := range names {
		quota.Spec.Hard[name] = apiresource.MustParse(limit)
	}
	noError(t, plane.Client.Create(t.Context(), quota))
	noError(t, history.WaitFor(t.Context(), namespace, sharedTimeout, func(ctx context.Context) error {
		if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Hard) > 0 {
			return err
		}
		return errors.New("the quota is not enforced yet")
	}))
	return quota
}
