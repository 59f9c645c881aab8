package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAnEventReconcilesTheResourceThatItIsAbout(t *testing.T) {
	made := func(change func(*appsv1.Deployment)) client.Object {
		c := webServers.children(webServers, storedWebServer()).deployment
		object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: *c.desired.(interface{ GetName() *string }).GetName(),
			Labels: webServers.selector(storedWebServer())}}
		change(object)
		return object
	}
	asMade := func(*appsv1.Deployment) {}
	pod := func(d *appsv1.Deployment) { d.Name = "web-5d8f-x2x7z" }
	for name, test := range map[string]struct {
		handler handler.EventHandler
		object  client.Object
		want    string
	}{
		"its Deployment":                       {enqueueByName(""), made(asMade), "default/web"},
		"its Deployment, which lost its label": {enqueueByName(""), made(func(d *appsv1.Deployment) { d.Labels = nil }), "default/web"},
		"its Service":                          {enqueueByName(serviceSuffix), made(func(d *appsv1.Deployment) { d.Name = "web-service" }), "default/web"},
		"a Service of another name":            {enqueueByName(serviceSuffix), made(asMade), ""},
		"its Pod":                              {enqueueByInstance(webServers.label()), made(pod), "default/web"},
		"a Pod of the other kind's":            {enqueueByInstance(memcacheds.label()), made(pod), ""},
		"a Pod without labels":                 {enqueueByInstance(webServers.label()), made(func(d *appsv1.Deployment) { d.Labels = nil }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			test.handler.Create(t.Context(), event.CreateEvent{Object: test.object}, queue)
			got := ""
			if queue.Len() > 0 {
				request, _ := queue.Get()
				got = request.String()
			}
			if got != test.want || queue.Len() > 0 {
				t.Errorf("got %q and %d more, want %q", got, queue.Len(), test.want)
			}
		})
	}
}

func TestAPodIsLookedAtWhenWhatTheCacheKeepsOfItHasChanged(t *testing.T) {
	pods := enqueueByInstance(webServers.label())
	looked := func(handle func(workqueue.TypedRateLimitingInterface[reconcile.Request])) bool {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		handle(queue)
		return queue.Len() > 0
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", ResourceVersion: "1", Generation: 1, Labels: webServers.selector(storedWebServer())}}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"its status, of what the cache does not keep": {func(p *corev1.Pod) { p.ResourceVersion = "2" }, false},
		"its spec, of which it keeps nothing":         {func(p *corev1.Pod) { p.ResourceVersion, p.Generation = "2", 2 }, false},
		"its phase":                                   {func(p *corev1.Pod) { p.ResourceVersion, p.Status.Phase = "2", corev1.PodFailed }, true},
		"its owner":                                   {func(p *corev1.Pod) { p.ResourceVersion, p.OwnerReferences = "2", []metav1.OwnerReference{{}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := pod.DeepCopy(), pod.DeepCopy()
			test.change(after)
			if looked(func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				pods.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
			}) != test.want {
				t.Errorf("it is looked at: %t", !test.want)
			}
			if before.ResourceVersion != pod.ResourceVersion {
				t.Error("the cache's own object is changed")
			}
		})
	}
	for what, handle := range map[string]func(workqueue.TypedRateLimitingInterface[reconcile.Request]){
		"comes": func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			pods.Create(t.Context(), event.CreateEvent{Object: pod}, q)
		},
		"goes": func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			pods.Delete(t.Context(), event.DeleteEvent{Object: pod}, q)
		},
	} {
		if !looked(handle) {
			t.Errorf("one that %s is not looked at", what)
		}
	}
}

func TestAFailedReconcileIsRetriedSoonAndThenEverMoreSeldom(t *testing.T) {
	options, last := controllerOptions(), time.Duration(0)
	for range 20 {
		delay := options.RateLimiter.When(reconcile.Request{})
		if last == 0 && delay != baseDelay || last > 0 && delay != min(2*last, maxDelay) {
			t.Errorf("after %s it is retried after %s", last, delay)
		}
		last = delay
	}
	if last != maxDelay || options.ReconciliationTimeout != reconcileTimeout {
		t.Errorf("at last after %s; a reconcile may take %s", last, options.ReconciliationTimeout)
	}
}
