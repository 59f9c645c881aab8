package controller

import (
	"testing"

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
			before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: "1", Generation: 1}}
			after, unchanged := before.DeepCopy(), before.DeepCopy()
			test.change(after)
			if contentChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) != test.want {
				t.Errorf("it is looked at: %t", !test.want)
			}
			if before.ResourceVersion != unchanged.ResourceVersion {
				t.Error("the cache's own object is changed")
			}
		})
	}
	if pod := (&corev1.Pod{}); !contentChanged.Create(event.CreateEvent{Object: pod}) || !contentChanged.Delete(event.DeleteEvent{Object: pod}) {
		t.Error("one that comes or goes is not")
	}
}
