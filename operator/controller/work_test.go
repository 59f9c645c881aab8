package controller

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// work is what becomes the reconciler's to do when all is as desired.
var work = map[string]func(*testing.T, client.Client){
	"a scale": func(t *testing.T, c client.Client) {
		editWebServer(t, c, func(ws *webserverv1.WebServer) { ws.Spec.Replicas = ptr.To[int32](2) })
	},
	"a node port": func(t *testing.T, c client.Client) {
		editWebServer(t, c, func(ws *webserverv1.WebServer) { ws.Spec.NodePort = 30999 })
	},
	"a repair": func(t *testing.T, c client.Client) {
		editChild(t, c, &appsv1.Deployment{}, "web", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](7) })
	},
	"a Pod that becomes ready": func(t *testing.T, c client.Client) {
		deployment := reportDeployment(t, c, 1, appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1})
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "set", OwnerReferences: controllerReference(deployment)}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1-a", OwnerReferences: controllerReference(set)}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if err := errors.Join(c.Create(t.Context(), set), c.Create(t.Context(), pod)); err != nil {
			t.Fatal(err)
		}
	},
	"a missing child": func(t *testing.T, c client.Client) {
		if err := c.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}}); err != nil {
			t.Fatal(err)
		}
	},
	"a child that no update can repair": func(t *testing.T, c client.Client) {
		editChild(t, c, &corev1.Service{}, "web-service", func(s *corev1.Service) {
			s.Spec.ClusterIP, s.Spec.Type = corev1.ClusterIPNone, corev1.ServiceTypeClusterIP
		})
	},
	"fields that count as updated": func(t *testing.T, c client.Client) {
		editChild(t, client.WithFieldOwner(c, Name), &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true })
	},
}

// reportDeployment gives the Deployment a generation, and the status that its controller reports.
func reportDeployment(t *testing.T, c client.Client, generation int64, status appsv1.DeploymentStatus) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	editChild(t, c, deployment, "web", func(d *appsv1.Deployment) { d.Generation = generation })
	deployment.Status = status
	if err := c.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

func controllerReference(owner client.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true)}}
}

func editWebServer(t *testing.T, c client.Client, change func(*webserverv1.WebServer)) {
	ws := getWebServer(t, c)
	change(ws)
	ws.Generation++
	if err := c.Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
}

func editChild[T client.Object](t *testing.T, c client.Client, child T, name string, change func(T)) {
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, child); err != nil {
		t.Fatal(err)
	}
	change(child)
	if err := c.Update(t.Context(), child); err != nil {
		t.Fatal(err)
	}
}
