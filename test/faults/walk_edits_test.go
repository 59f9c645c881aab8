package faults_test

import (
	"bytes"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var childKinds = map[string]schema.GroupVersionKind{
	"Deployment": appsv1.SchemeGroupVersion.WithKind("Deployment"),
	"Service":    corev1.SchemeGroupVersion.WithKind("Service"),
}

type edit struct {
	description string
	childKind   string
	// patch is a strategic merge patch. CONTAINER stands for the name of the operator's container.
	patch     string
	isVisible func(*unstructured.Unstructured) bool
	// mustPersist means that the operator does not own the field and must keep the edit.
	mustPersist bool
}

type editedChild struct {
	uid types.UID
	edit
}

// tamperingEdits change fields that the operator owns and must restore.
var tamperingEdits = []edit{
	{"change the number of replicas", "Deployment", `{"spec": {"replicas": 5}}`, hasField(int64(5), "spec", "replicas"), false},
	{"change the image", "Deployment", `{"spec": {"template": {"spec": {"containers": [{"name": "CONTAINER", "image": "tampered:1"}]}}}}`, hasImage("tampered:1"), false},
	{"remove a label", "Deployment", `{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`, hasField(nil, "metadata", "labels", "app.kubernetes.io/managed-by"), false},
	{"change the selector", "Service", `{"spec": {"selector": {"app": "tampered"}}}`, hasField("tampered", "spec", "selector", "app"), false},
	{"change the type", "Service", `{"spec": {"type": "ClusterIP"}}`, hasField("ClusterIP", "spec", "type"), false},
	{"remove a label", "Service", `{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`, hasField(nil, "metadata", "labels", "app.kubernetes.io/managed-by"), false},
}

// foreignEdits add fields that the operator does not own and must keep.
var foreignEdits = []edit{
	{"add an annotation", "Deployment", `{"metadata": {"annotations": {"example.com/note": "ours"}}}`, hasField("ours", "metadata", "annotations", "example.com/note"), true},
	{"add a label", "Deployment", `{"metadata": {"labels": {"example.com/team": "ours"}}}`, hasField("ours", "metadata", "labels", "example.com/team"), true},
	{"add a container", "Deployment", `{"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "sidecar:1"}]}}}}`, hasImage("sidecar:1"), true},
	{"add an annotation", "Service", `{"metadata": {"annotations": {"example.com/note": "ours"}}}`, hasField("ours", "metadata", "annotations", "example.com/note"), true},
	{"add a label", "Service", `{"metadata": {"labels": {"example.com/team": "ours"}}}`, hasField("ours", "metadata", "labels", "example.com/team"), true},
}

// hasField returns a function that reports whether a field has the given value. A nil value means that the field must
// not exist.
func hasField(value any, field ...string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool {
		found, _, err := unstructured.NestedFieldNoCopy(object.Object, field...)
		return err == nil && found == value
	}
}

func hasImage(image string) func(*unstructured.Unstructured) bool {
	return func(deployment *unstructured.Unstructured) bool {
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		return slices.ContainsFunc(containers, func(container any) bool {
			fields, _ := container.(map[string]any)
			return fields["image"] == image
		})
	}
}

func (s subject) container() string { return strings.ToLower(s.Kind) }

func (r *desiredResource) children() []string {
	if r.Kind == "WebServer" {
		return []string{"Deployment", "Service"}
	}
	return []string{"Deployment"}
}

func (r *desiredResource) childName(kind string) string {
	if kind == "Service" {
		return r.name + "-service"
	}
	return r.name
}

func (r *desiredResource) editsOf(edits []edit) []edit {
	var possible []edit
	for _, e := range edits {
		if slices.Contains(r.children(), e.childKind) {
			possible = append(possible, e)
		}
	}
	return possible
}

func (r *desiredResource) object(namespace string) *unstructured.Unstructured {
	object := r.in(namespace, map[string]any{r.Replicas: r.pods, "image": r.image})
	object.SetName(r.name)
	return object
}

func (r *desiredResource) patchOf(e edit) []byte {
	return bytes.ReplaceAll([]byte(e.patch), []byte("CONTAINER"), []byte(r.container()))
}
