package controller

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAChangeOfAChildIsLookedAt has a child change that was found up to date before.
func TestAChangeOfAChildIsLookedAt(t *testing.T) {
	fresh := func(image string) (children, *appsv1.Deployment, *corev1.Service) {
		ws := storedWebServer()
		ws.Spec.Image = workload.Image(image)
		c := webServerChildren(webServers, ws)
		deployment, service := c.deployment.object.(*appsv1.Deployment), c.service.object.(*corev1.Service)
		deployment.UID, deployment.ManagedFields = "deployment", []metav1.ManagedFieldsEntry{{Manager: Name, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
		service.UID = "service"
		return c, deployment, service
	}
	before, _, _ := fresh("nginx:1")
	verified := before.fingerprint()
	for what, change := range map[string]func(*appsv1.Deployment, *corev1.Service){
		"spec":           func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Replicas = new(int32(7)) },
		"template":       func(d *appsv1.Deployment, _ *corev1.Service) { d.Spec.Template.Spec.HostNetwork = true },
		"label":          func(d *appsv1.Deployment, _ *corev1.Service) { d.Labels = map[string]string{"a": "b"} },
		"annotation":     func(d *appsv1.Deployment, _ *corev1.Service) { d.Annotations = map[string]string{"a": "b"} },
		"owner":          func(d *appsv1.Deployment, _ *corev1.Service) { d.OwnerReferences = []metav1.OwnerReference{{}} },
		"deletion":       func(d *appsv1.Deployment, _ *corev1.Service) { d.DeletionTimestamp = new(metav1.Now()) },
		"another object": func(d *appsv1.Deployment, _ *corev1.Service) { d.UID = "another" },
		"field's owner":  func(d *appsv1.Deployment, _ *corev1.Service) { d.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{}`) },
		"update's owner": func(d *appsv1.Deployment, _ *corev1.Service) {
			d.ManagedFields[0].Operation = metav1.ManagedFieldsOperationUpdate
		},
		"the other's spec":  func(_ *appsv1.Deployment, s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP },
		"the other's label": func(_ *appsv1.Deployment, s *corev1.Service) { s.Labels = map[string]string{"a": "b"} },
	} {
		after, deployment, service := fresh("nginx:1")
		if change(deployment, service); after.fingerprint() == verified {
			t.Errorf("a change of the %s is not looked at", what)
		}
	}

	if asksForMore, _, _ := fresh("nginx:2"); asksForMore.fingerprint() == verified {
		t.Error("a change of the resource's spec is not looked at")
	}
	after, deployment, _ := fresh("nginx:1")
	deployment.Status.ReadyReplicas, deployment.ResourceVersion, deployment.Generation = 3, "4711", 5
	if after.fingerprint() != verified {
		t.Error("a change of the status is")
	}
}

// TestChildrenThatDidNotChangeAreNotComparedAgain counts how often the fields that this operator owns are extracted.
func TestChildrenThatDidNotChangeAreNotComparedAgain(t *testing.T) {
	service, child := appliedService()
	service.Annotations = map[string]string{annotationOwner: "web-uid"}
	extracted := 0
	child.extract = func() (any, error) { extracted++; return child.desired, nil }
	var m memory
	for range 3 {
		if !m.upToDate(storedWebServer(), children{deployment: child}) {
			t.Error("they are not up to date")
		}
	}
	if extracted != 1 {
		t.Errorf("they are compared %d times", extracted)
	}
	service.Labels = map[string]string{"a": "b"}
	child.extract = func() (any, error) { return nil, nil }
	if m.upToDate(storedWebServer(), children{deployment: child}) {
		t.Error("what was up to date is taken for what is")
	}
}

// TestWhatIsNoJSONIsAMistakeOfTheProgram: to hash nothing would make all that is alike.
func TestWhatIsNoJSONIsAMistakeOfTheProgram(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "a part of an object is always JSON: json: unsupported type") {
			t.Errorf("it says %s", said)
		}
	}()
	hashOf(make(chan int))
}
