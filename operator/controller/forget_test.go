package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestOnlyAResourceThatIsGoneIsForgotten: one that cannot be read may have failed for long.
func TestOnlyAResourceThatIsGoneIsForgotten(t *testing.T) {
	key := client.ObjectKeyFromObject(storedWebServer())
	unreadable := errors.New("no answer")
	failing := newFakeReconciler(interceptor.NewClient(newFakeClient(t, storedWebServer()), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return unreadable
		},
	}))
	gone := newFakeReconciler(newFakeClient(t))
	for _, r := range []*reconciler[*webserverv1.WebServer]{failing, gone} {
		r.memories.of(storedWebServer()).failingFor(unread("Deployment", &appsv1.Deployment{}), time.Now())
		r.debounce.delay(key, &workload.Status{}, time.Now())
	}
	if _, err := failing.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); !errors.Is(err, unreadable) {
		t.Errorf("got %v", err)
	}
	if _, err := gone.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Error(err)
	}
	if _, remembered := failing.memories.Load(key); !remembered {
		t.Error("a resource that cannot be read is forgotten")
	}
	if _, remembered := gone.memories.Load(key); remembered || len(gone.debounce.pending) > 0 {
		t.Error("a resource that is gone is remembered")
	}
}

func TestEachResourceHasAMemoryOfItsOwn(t *testing.T) {
	var m memories
	web, other := storedWebServer(), storedWebServer()
	other.Namespace = "other"
	if m.of(web) != m.of(storedWebServer()) {
		t.Error("a resource's is another the next time")
	}
	if m.of(web) == m.of(other) {
		t.Error("a namesake has the same")
	}
}
