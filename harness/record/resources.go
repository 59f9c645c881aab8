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

// ResourceLister lists the objects of a namespace, of every namespaced kind that the API server has, so that no test
// depends on a list of kinds that somebody must keep complete.
type ResourceLister struct {
	discovery discovery.DiscoveryInterface
	dynamic   dynamic.Interface

	mu           sync.Mutex
	kinds        map[schema.GroupVersionResource]schema.GroupVersionKind // namespaced
	clusterKinds map[schema.GroupVersionResource]schema.GroupVersionKind
}

// NewResourceLister returns a lister with the permissions of the config's user.
func NewResourceLister(config *rest.Config) (*ResourceLister, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1                           // it lists dozens of kinds at once
	config.WarningHandler = rest.NoWarnings{} // deprecated kinds are listed on purpose
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

// Objects returns every object of a namespace except Events and Leases, which change with time alone, sorted by kind
// and name. Kinds that could not be listed are in the error; the other objects are returned.
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
				return // the kind was removed since
			}
			if err != nil {
				errs[index] = fmt.Errorf("listing %s: %w", kind.GroupResource(), err)
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

// Kinds returns the resources that can be listed and watched, with their kinds, each in the version that the API server
// prefers, without Events and Leases: those that are namespaced, and the others. They are discovered once: for kinds that are
// installed later, make a new ResourceLister.
func (l *ResourceLister) Kinds() (namespaced, others map[schema.GroupVersionResource]schema.GroupVersionKind, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds != nil {
		return l.kinds, l.clusterKinds, nil
	}
	lists, err := discovery.ServerPreferredResources(l.discovery)
	if err != nil {
		return nil, nil, fmt.Errorf("discovering kinds: %w", err)
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

// History watches the namespaced kinds, in every namespace, until ctx ends.
func (l *ResourceLister) History(ctx context.Context, reader client.WithWatch) (*History, error) {
	kinds, _, err := l.Kinds()
	if err != nil {
		return nil, err
	}
	return NewHistory(ctx, reader, metav1.NamespaceAll, slices.Collect(maps.Values(kinds))...)
}

// ClusterHistory watches the cluster-scoped kinds, too.
func (l *ResourceLister) ClusterHistory(ctx context.Context, reader client.WithWatch) (*History, error) {
	namespaced, others, err := l.Kinds()
	if err != nil {
		return nil, err
	}
	return NewHistory(ctx, reader, metav1.NamespaceAll, slices.AppendSeq(slices.Collect(maps.Values(namespaced)), maps.Values(others))...)
}
