package scenarios

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario"
	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/operator/config"
)

// TestKind holds the properties of a kind that the scenarios need.
type TestKind struct {
	schema.GroupVersionKind
	// name is the prefix of the kind's scenario names.
	name string
	// sample is the manifest that every scenario starts with. It requests 3 Pods.
	sample []byte
	// Replicas is the name of the spec field with the number of Pods.
	Replicas string
	Images   Versions
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
	kinds = []TestKind{webServer, memcached}
)

func isOurs(kind string) bool {
	return slices.ContainsFunc(kinds, func(k TestKind) bool { return k.Kind == kind })
}

// Scenario returns a scenario of the kind with the given name and steps.
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

// Manifest returns the sample in the namespace of the run. It sets the image if the scenarios use unpublished images.
// The published image is already in the sample, or is the default in the schema.
func (k TestKind) Manifest(env *scenario.Env) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	utilruntime.Must(yaml.Unmarshal(k.sample, object)) // the sample is embedded
	object.SetNamespace(env.Namespace)
	if k.Images != Published.WebServer && k.Images != Published.Memcached {
		utilruntime.Must(unstructured.SetNestedField(object.Object, k.Images.From, "spec", "image"))
	}
	return object
}

// Observed is a resource with its decoded status.
type Observed struct {
	*unstructured.Unstructured
	workload.Status
	// NodePort is 0 if the kind has no node port.
	NodePort int32
}

func (k TestKind) get(ctx context.Context, env *scenario.Env) (Observed, error) {
	object := k.Manifest(env)
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return Observed{}, err
	}
	return Observe(object)
}

// Observe decodes the status of a resource.
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

// Plural returns the plural name of the kind, as used in API paths and by kubectl.
func (k TestKind) Plural() string { return strings.ToLower(k.Kind) + "s" }
