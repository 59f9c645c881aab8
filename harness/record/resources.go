package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ResourceLister lists and watches the objects of every kind that the API server serves.
type ResourceLister struct {
	discovery discovery.DiscoveryInterface
	dynamic   dynamic.Interface

	mu           sync.Mutex
	kinds        map[schema.GroupVersionResource]schema.GroupVersionKind // namespaced
	clusterKinds map[schema.GroupVersionResource]schema.GroupVersionKind
}

// NewResourceLister returns a ResourceLister that uses the given config.
func NewResourceLister(config *rest.Config) (*ResourceLister, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1                           // Objects lists dozens of kinds at once
	config.WarningHandler = rest.NoWarnings{} // deprecated kinds are listed as well
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &ResourceLister{discovery: kinds, dynamic: objects}, nil
}

// Objects returns all objects in a namespace, except Events and Leases, sorted by kind and name. If some kinds cannot
// be listed, it returns the objects of all other kinds, and an error that names the failed kinds.
func (l *ResourceLister) Objects(ctx context.Context, namespace string) ([]unstructured.Unstructured, error) {
	kinds, _, err := l.Kinds()
	if err != nil {
		return nil, err
	}
	resources := slices.Collect(maps.Keys(kinds))
	lists := make([][]unstructured.Unstructured, len(kinds))
	errs := make([]error, len(kinds))
	var listing sync.WaitGroup
	for index, kind := range resources {
		listing.Go(func() {
			list, err := l.dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				return // the kind was removed after discovery
			}
			if err != nil {
				errs[index] = fmt.Errorf("cannot list %s: %w", kind.GroupResource(), err)
				return
			}
			lists[index] = list.Items
		})
	}
	listing.Wait()
	objects := slices.Concat(lists...)
	slices.SortFunc(objects, func(a, b unstructured.Unstructured) int {
		return cmp.Or(
			strings.Compare(a.GetKind(), b.GetKind()),
			strings.Compare(a.GetAPIVersion(), b.GetAPIVersion()),
			strings.Compare(a.GetName(), b.GetName()))
	})
	return objects, errors.Join(errs...)
}

// Kinds returns the namespaced and cluster-scoped resources that support list and watch, in the API server's preferred
// version. Events and Leases are excluded because they change regardless of what the operator does. The result is
// cached, so create a new ResourceLister after installing more kinds.
func (l *ResourceLister) Kinds() (namespaced, others map[schema.GroupVersionResource]schema.GroupVersionKind, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds != nil {
		return l.kinds, l.clusterKinds, nil
	}
	lists, err := discovery.ServerPreferredResources(l.discovery)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot discover the kinds: %w", err)
	}
	namespaced, others = map[schema.GroupVersionResource]schema.GroupVersionKind{}, map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, nil, err
		}
		for _, resource := range list.APIResources {
			switch {
			case resource.Name == "events" || resource.Name == "leases":
			case resource.Namespaced:
				namespaced[version.WithResource(resource.Name)] = version.WithKind(resource.Kind)
			default:
				others[version.WithResource(resource.Name)] = version.WithKind(resource.Kind)
			}
		}
	}
	l.kinds, l.clusterKinds = namespaced, others
	return namespaced, others, nil
}

// History returns a History of all namespaced kinds in all namespaces.
func (l *ResourceLister) History(ctx context.Context, reader client.WithWatch) (*History, error) {
	kinds, _, err := l.Kinds()
	if err != nil {
		return nil, err
	}
	return NewHistory(ctx, reader, metav1.NamespaceAll, slices.Collect(maps.Values(kinds))...)
}

// ClusterHistory returns a History of all namespaced and cluster-scoped kinds.
func (l *ResourceLister) ClusterHistory(ctx context.Context, reader client.WithWatch) (*History, error) {
	namespaced, others, err := l.Kinds()
	if err != nil {
		return nil, err
	}
	return NewHistory(ctx, reader, metav1.NamespaceAll, slices.AppendSeq(slices.Collect(maps.Values(namespaced)), maps.Values(others))...)
}
