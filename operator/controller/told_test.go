package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// TestKubectlDescribeOfAResourceShowsItsEvents: it shows those that regard the resource itself. A child is what they are related to.
func TestKubectlDescribeOfAResourceShowsItsEvents(t *testing.T) {
	for name, begin := range work {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				begin(t, server.fake)
				server.reconcileUntilIdle()
				for i, note := range server.notes {
					if ws, ok := server.regarding[i].(*webserverv1.WebServer); !ok || ws.UID != storedWebServer().UID {
						t.Errorf("%q is an Event of %T", note, server.regarding[i])
					}
					if child := server.related[i]; child != nil && !strings.Contains(note, " "+child.GetName()) {
						t.Errorf("%q is related to %s", note, child.GetName())
					}
					if ofChild := strings.Contains(note, " Deployment web") || strings.Contains(note, " Service web-service"); ofChild != (server.related[i] != nil) {
						t.Errorf("%q is related to %v", note, server.related[i])
					}
				}
			})
		})
	}
}

// TestWhatIsNotReportedIsNotToldEither has each write of a status fail: an Event or a log line before it would come with each try.
func TestWhatIsNotReportedIsNotToldEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := settledObjects(t)
		settled[2] = &corev1.Service{}
		settled[2].SetNamespace("default")
		settled[2].SetName("web-service")
		settled[2].SetUID("strangers")
		server := newFakeServer(t, settled...)
		server.failing, server.failure = "update status", errors.New("connection reset")
		for range 3 {
			if _, err := server.reconcile(); !errors.Is(err, server.failure) {
				t.Fatalf("got %v", err)
			}
		}
		if log := strings.Join(server.logged, "\n"); len(server.notes) > 0 || strings.Contains(log, "Reported status") {
			t.Errorf("told is %q, and logged is\n%s", server.notes, log)
		}
		server.failing = ""
		if _, err := server.reconcile(); err != nil || len(server.notes) != 1 {
			t.Errorf("when it is reported, told is %q: %v", server.notes, err)
		}
	})
}

// TestNobodyIsToldTheValueOfAVariable, which may be a password: who may read Events and logs need not be who may read Deployments.
func TestNobodyIsToldTheValueOfAVariable(t *testing.T) {
	for name, when := range map[string]func(s *fakeServer, set func()){
		"that was there":      func(_ *fakeServer, set func()) { set() },
		"that comes with it":  func(s *fakeServer, set func()) { s.meanwhile = set },
		"that somebody added": func(s *fakeServer, set func()) { s.reconcileUntilIdle(); set() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, settledObjects(t)...)
				when(server, func() {
					editChild(t, server.fake, &appsv1.Deployment{}, "web", func(d *appsv1.Deployment) {
						d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}
					})
				})
				work["a scale"](t, server.fake)
				server.reconcileUntilIdle()
				told := strings.Join(append(server.notes, server.logged...), "\n")
				if strings.Contains(told, "hunter2") || !strings.Contains(told, "spec.replicas: 0 → 2") {
					t.Error(told)
				}
				deployment := server.stored(context.Background(), "Deployment", "web").(*appsv1.Deployment)
				if env := deployment.Spec.Template.Spec.Containers[0].Env; len(env) != 1 {
					t.Errorf("the variables are %v", env)
				}
			})
		})
	}
}

func TestThatAVariableHasChangedIsTold(t *testing.T) {
	const path = "spec.template.spec.containers[0].env[1].value"
	if got := (change{path: path, from: "a", to: "b"}).String(); got != path+": changed" {
		t.Error(got)
	}
}

// TestNoMetricOutlivesItsResource: a series for each resource that ever was is memory, here and in Prometheus.
func TestNoMetricOutlivesItsResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		work["a Pod that becomes ready"](t, server.fake)
		server.reconcileUntilIdle()
		if err := server.fake.Delete(t.Context(), getWebServer(t, server.fake)); err != nil {
			t.Fatal(err)
		}
		server.reconcileUntilIdle()
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if value := label.GetValue(); value == "web" || value == "web-service" || value == "default/web" {
						t.Errorf("%s still tells of %s %s", family.GetName(), label.GetName(), value)
					}
				}
			}
		}
	})
}
