package bench

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/config"
)

// kind is one of the operator's.
type kind struct {
	schema.GroupVersionKind
	sample   []byte
	replicas string // the field of the spec
	service  bool   // whether there is a Service beside the Deployment
	most     int    // resources that a cluster has room for
}

// kinds are those that BENCH_KIND may name.
var kinds = map[string]kind{
	"memcached": {
		GroupVersionKind: memcachedv1alpha1.GroupVersion.WithKind("Memcached"),
		sample:           config.MemcachedSample,
		replicas:         "size",
		most:             100_000,
	},
	"webserver": {
		GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
		sample:           config.WebServerSample,
		replicas:         "replicas",
		service:          true,
		most:             2_700, // a cluster has 2,768 node ports
	},
}

// manifest is a resource as its user creates it.
func (k kind) manifest(key types.NamespacedName, replicas int64) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(k.sample, object); err != nil {
		return nil, fmt.Errorf("the sample of %s: %w", k.Kind, err)
	}
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object, unstructured.SetNestedField(object.Object, replicas, "spec", k.replicas)
}

// scaling is the patch that scales a resource.
func (k kind) scaling(replicas int64) []byte {
	return fmt.Appendf(nil, `{"spec":{%q:%d}}`, k.replicas, replicas)
}

// empty is a resource to read into.
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

func ownerReference(owner *unstructured.Unstructured) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, owner.GroupVersionKind())
}

// perNamespace is how many resources share a namespace. kube-controller-manager's work for a Deployment grows with
// the ReplicaSets of its namespace, so that the cost of a larger size would else be the cluster's.
const perNamespace = 1000

// The namespaces of measured resources begin with measured; those that warm the cluster up are in warmUp.
const (
	measured = "bench-"
	warmUp   = "warm-up"
)

// names are those of so many measured resources. They are of one length.
func names(count int) []types.NamespacedName {
	var all []types.NamespacedName
	for i := range count {
		all = append(all, types.NamespacedName{
			Namespace: fmt.Sprintf("%s%d", measured, i/perNamespace),
			Name:      fmt.Sprintf("resource-%05d", i),
		})
	}
	return all
}

// sample is at most so many of all, spread over all.
func sample(all []types.NamespacedName, most int) []types.NamespacedName {
	count := min(len(all), most)
	var chosen []types.NamespacedName
	for i := range count {
		chosen = append(chosen, all[i*len(all)/count])
	}
	return chosen
}
