package scenarios

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario"
	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/operator/config"
)

// TestKind is what the catalogue needs to know about a kind to test it.
type TestKind struct {
	schema.GroupVersionKind
	// name is the prefix of the names of the kind's scenarios.
	name string
	// sample is the manifest that every scenario starts from; it asks for 3 Pods.
	sample []byte
	// Replicas is the field of the spec with the number of Pods.
	Replicas string
	// Images are what the Pods run.
	Images Versions
}

var (
	webServer = TestKind{
		GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
		name:             "webserver",
		sample:           config.WebServerSample,
		Replicas:         "replicas",
		Images:           Published.WebServer,
	}
	memcached = TestKind{
		GroupVersionKind: memcachedv1alpha1.GroupVersion.WithKind("Memcached"),
		name:             "memcached",
		sample:           config.MemcachedSample,
		Replicas:         "size",
		Images:           Published.Memcached,
	}
)

// Scenario returns a scenario of the kind.
func (k TestKind) Scenario(name string, steps ...scenario.Step) scenario.Scenario {
	return scenario.Scenario{
		Name:    k.name + "/" + name,
		Subject: k.GroupVersionKind,
		Kinds: []schema.GroupVersionKind{
			k.GroupVersionKind,
			appsv1.SchemeGroupVersion.WithKind("Deployment"),
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
			corev1.SchemeGroupVersion.WithKind("Pod"),
			corev1.SchemeGroupVersion.WithKind("Service"),
			discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
		},
		Steps: steps,
	}
}

// Manifest is the sample in the run's namespace. Published images are the sample's own, or the schema's default;
// others are set in the spec.
func (k TestKind) Manifest(env *scenario.Env) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(k.sample, object); err != nil {
		return nil, fmt.Errorf("the sample of %s: %w", k.Kind, err)
	}
	object.SetNamespace(env.Namespace)
	if k.Images == Published.WebServer || k.Images == Published.Memcached {
		return object, nil
	}
	return object, unstructured.SetNestedField(object.Object, k.Images.From, "spec", "image")
}

// Observed is a resource of a TestKind as it was last read.
type Observed struct {
	*unstructured.Unstructured
	workload.Status
	// NodePort is 0 for kinds that have none.
	NodePort int32
}

// get gets the resource that the sample names.
func (k TestKind) get(ctx context.Context, env *scenario.Env) (Observed, error) {
	object, err := k.Manifest(env)
	if err != nil {
		return Observed{}, err
	}
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return Observed{}, err
	}
	return Observe(object)
}

// Observe decodes a resource's status.
func Observe(object *unstructured.Unstructured) (Observed, error) {
	s := Observed{Unstructured: object}
	status, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil {
		return s, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &s.Status); err != nil {
		return s, err
	}
	nodePort, _, err := unstructured.NestedInt64(status, "nodePort")
	s.NodePort = int32(nodePort)
	return s, err
}

// Plural is the kind's name in the API's paths and on kubectl's command line.
func (k TestKind) Plural() string { return strings.ToLower(k.Kind) + "s" }
