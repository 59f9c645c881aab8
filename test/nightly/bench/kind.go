package bench

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/config"
)

// kind is one of the operator's kinds.
type kind struct {
	schema.GroupVersionKind
	sample   []byte
	replicas string // the spec field with the number of Pods
	service  bool   // whether the resource has a Service
	max      int    // the maximum number of resources in a cluster
}

// kinds contains the valid values of BENCH_KIND.
var kinds = map[string]kind{
	"memcached": {
		GroupVersionKind: memcachedv1alpha1.GroupVersion.WithKind("Memcached"),
		sample:           config.MemcachedSample,
		replicas:         "size",
		max:              100_000,
	},
	"webserver": {
		GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
		sample:           config.WebServerSample,
		replicas:         "replicas",
		service:          true,
		max:              2_700, // a cluster has 2,768 node ports
	},
}

// manifest returns the resource that a user creates.
func (k kind) manifest(key types.NamespacedName, replicas int64) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(k.sample, object); err != nil {
		return nil, fmt.Errorf("the sample of %s: %w", k.Kind, err)
	}
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object, unstructured.SetNestedField(object.Object, replicas, "spec", k.replicas)
}

// scaling returns the patch that scales a resource.
func (k kind) scaling(replicas int64) []byte {
	return fmt.Appendf(nil, `{"spec":{%q:%d}}`, k.replicas, replicas)
}

// empty returns an empty object for reading a resource.
func (k kind) empty(key types.NamespacedName) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(k.GroupVersionKind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

func serviceKey(key types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: key.Namespace, Name: key.Name + "-service"}
}

// perNamespace is the number of resources per namespace. For each sync of a Deployment, kube-controller-manager
// processes all ReplicaSets in the namespace. With a single namespace, its work would grow quadratically.
const perNamespace = 1000

// measured is the prefix of the namespaces with measured resources. warmUp is the namespace of the resources that
// warm up a cluster.
const (
	measured = "bench-"
	warmUp   = "warm-up"
)

// resourceKeys returns the keys of the measured resources. All names have the same length.
func resourceKeys(count int) []types.NamespacedName {
	var all []types.NamespacedName
	for i := range count {
		all = append(all, types.NamespacedName{
			Namespace: fmt.Sprintf("%s%d", measured, i/perNamespace),
			Name:      fmt.Sprintf("resource-%05d", i),
		})
	}
	return all
}

// sample returns up to limit evenly spread keys.
func sample(all []types.NamespacedName, limit int) []types.NamespacedName {
	count := min(len(all), limit)
	var chosen []types.NamespacedName
	for i := range count {
		chosen = append(chosen, all[i*len(all)/count])
	}
	return chosen
}
