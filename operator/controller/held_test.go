package controller

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/ptr"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAnEventDoesNotHaveASlowWebhookAskedEarlier has a webhook hold the write of a Service: what happens meanwhile is reported,
// and takes no worker for another five seconds. A new spec may be what the webhook takes.
func TestAnEventDoesNotHaveASlowWebhookAskedEarlier(t *testing.T) {
	for name, held := range map[string]string{"of a Service that is to be made": "a missing child", "of one that is to be updated": "a node port"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				work[held](t, server.fake)
				server.failing, server.failure = "apply web-service", context.DeadlineExceeded
				asked := func() bool { // in a reconcile of an event
					t.Helper()
					before := len(server.requests)
					result, err := server.reconcile()
					if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > maxDelay {
						t.Errorf("again after %s, %v", result.RequeueAfter, err)
					}
					return slices.Contains(server.requests[before:], "apply web-service")
				}
				if !asked() {
					t.Fatal("the Service is not written")
				}
				time.Sleep(childWriteTimeout - time.Second)
				if asked() {
					t.Error("it is asked again at once")
				}
				if reason := server.reported(workload.Progressing); reason != workload.ReasonRetrying {
					t.Errorf("reported is %s", reason)
				}
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Replicas = ptr.To[int32](3) })
				if !asked() {
					t.Error("it is not asked about a new spec")
				}
				time.Sleep(childWriteTimeout)
				if !asked() {
					t.Error("it is never asked again")
				}
			})
		})
	}
}
