package faults_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/oracle"
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
	history := newHistory(t)
	for _, failing := range []int{0, 1, 2 * controller.Workers} {
		t.Run(fmt.Sprintf("%d of each kind", failing), func(t *testing.T) {
			var recorder record.Recorder
			config := rest.CopyConfig(identity)
			config.Wrap(recorder.Wrap)
			startOperator(t, config)
			failingGroup, healthy := newResourceGroup(t), newResourceGroup(t)
			denyChildren(t, failingGroup.namespace)
			failingGroup.createEach(t, failing)
			start := time.Now()
			healthy.createEach(t, healthyPerKind)
			noError(t, waitComplete(t.Context(), history, healthy.namespace, len(healthy.names)))
			took := time.Since(start)
			t.Logf("%d healthy resources were ready after %s", 2*healthyPerKind, took.Round(time.Millisecond))
			healthy.checkBudget(t, recorder.Requests(), took)
			failingGroup.waitRetried(t, &recorder)
			if err := oracle.BoundedRetries(recorder.Requests()); err != nil {
				t.Error(err)
			}
			failingGroup.checkBackoff(t, recorder.Requests())
		})
	}
}

type resourceGroup struct {
	namespace string
	names     []string
}

func newResourceGroup(t *testing.T) *resourceGroup {
	namespace, err := plane.CreateNamespace(t.Context(), "retries")
	noError(t, err)
	t.Cleanup(func() { deleteResources(namespace) })
	return &resourceGroup{namespace: namespace}
}

func denyChildren(t *testing.T, namespace string) {
	history, err := record.NewHistory(t.Context(), plane.Client, namespace, corev1.SchemeGroupVersion.WithKind("ResourceQuota"))
	noError(t, err)
	none := apiresource.MustParse("0")
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "no-children"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": none, corev1.ResourceServices: none}},
	}
	noError(t, createQuota(t.Context(), history, quota))
}

func (c *resourceGroup) createEach(t *testing.T, each int) {
	for i := range each {
		for _, s := range subjects {
			r := walkResource{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1), pods: 1, image: s.Images.From}
			noError(t, plane.Client.Create(t.Context(), r.object(c.namespace)))
			c.names = append(c.names, r.name)
		}
	}
}

func (c *resourceGroup) checkBudget(t *testing.T, requests record.Requests, took time.Duration) {
	web, cache := scenarios.Budgets["webserver/create"], scenarios.Budgets["memcached/create"]
	least, most := healthyPerKind*(web.Writes+cache.Writes), healthyPerKind*(web.Most(took)+cache.Most(took))
	writes := requests.Filter(record.InNamespace(c.namespace)).Writes()
	t.Logf("%d writes; the budget is %d to %d", len(writes), least, most)
	if len(writes) < least || len(writes) > most {
		t.Errorf("got %d writes for %d resources of each kind, want %d to %d\n%s", len(writes), healthyPerKind, least, most, writes.Table())
	}
}

// waitRetried waits until every resource has been retried and rejected again, which proves that none was forgotten.
func (c *resourceGroup) waitRetried(t *testing.T, recorder *record.Recorder) {
	err := wait.For(t.Context(), sharedTimeout, wait.Poll(100*time.Millisecond), func(context.Context) error {
		requests := recorder.Requests().Filter(record.InNamespace(c.namespace), isDeploymentWrite, hasStatus)
		waiting := 0
		for _, name := range c.names {
			if len(requests.Filter(about(name))) < 2 {
				waiting++
			}
		}
		if waiting > 0 {
			return fmt.Errorf("%d of %d failing resources were not retried", waiting, len(c.names))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkBackoff checks that the API server has rejected all Deployment writes of each resource, and that there are no
// more writes than the exponential back-off allows, regardless of events.
func (c *resourceGroup) checkBackoff(t *testing.T, requests record.Requests) {
	requests = requests.Filter(record.InNamespace(c.namespace))
	for _, name := range c.names {
		tries := requests.Filter(about(name), isDeploymentWrite)
		if len(tries) == 0 {
			t.Errorf("%s: got no Deployment writes", name)
			continue
		}
		for _, try := range tries {
			if hasStatus(try) && try.Status != http.StatusForbidden {
				t.Errorf("%s: got %s, want status 403", name, try)
			}
		}
		span := tries[len(tries)-1].Time.Sub(tries[0].Time)
		retries := int(math.Log2(float64(span)/float64(baseDelay) + 1))
		if most := 1 + retries; len(tries) > most {
			t.Errorf("%s: got %d tries within %s, want at most %d\n%s", name, len(tries), span, most, requests.Filter(about(name)))
		}
	}
}

// about matches requests for a resource or for a child with the same name.
func about(name string) record.Filter {
	return func(request record.Request) bool { return request.Name == name }
}

// hasStatus matches requests that received a response. On a busy machine, the operator cancels some requests before
// that.
func hasStatus(request record.Request) bool { return request.Status != 0 }

func isDeploymentWrite(request record.Request) bool {
	return request.IsWrite() && request.Target() == "deployments.apps"
}
