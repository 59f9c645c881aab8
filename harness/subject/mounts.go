package subject

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
)

// mounts keeps the managers' mounted Secrets and ConfigMaps up to date. For example, some operators generate their
// webhook certificate, write it to a Secret, and wait for the mounted files to change.
type mounts struct {
	secrets    listers.SecretLister
	configMaps listers.ConfigMapLister

	cancel  context.CancelFunc
	running sync.WaitGroup // the informers

	mu      sync.Mutex
	mounted map[string]map[string]*mounted // by namespace and manager
}

type mounted struct {
	files   func() map[string]pod.Files // the desired folder contents, by mount path
	now     map[string]pod.Files
	remount pod.Remount
}

// newMounts watches all Secrets and ConfigMaps until close is called. It does not use an informer factory, which would
// link the informers of every API group into the binary.
func newMounts(ctx context.Context, clientset kubernetes.Interface) *mounts {
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	secrets := informers.NewSecretInformer(clientset, metav1.NamespaceAll, 0, byNamespace)
	configMaps := informers.NewConfigMapInformer(clientset, metav1.NamespaceAll, 0, byNamespace)
	m := &mounts{secrets: listers.NewSecretLister(secrets.GetIndexer()), configMaps: listers.NewConfigMapLister(configMaps.GetIndexer()), mounted: map[string]map[string]*mounted{}}
	var watching context.Context
	watching, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, informer := range []cache.SharedIndexInformer{secrets, configMaps} {
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: m.changed, UpdateFunc: func(_, object any) { m.changed(object) }}) // the informer has not been stopped
		m.running.Go(func() { informer.RunWithContext(watching) })
	}
	cache.WaitForCacheSync(ctx.Done(), secrets.HasSynced, configMaps.HasSynced)
	return m
}

func (m *mounts) close() {
	m.cancel()
	m.running.Wait()
}

// follow mounts the manager's Secrets and ConfigMaps into the container, and updates the mounted folders when the
// objects change. Like a kubelet, it does not update files that are mounted with a subPath.
func (m *mounts) follow(c *pod.Container, manager *project.Manager) {
	namespace, binary := c.Namespace, c.Path
	current := func() pod.Container {
		secrets, _ := m.secrets.Secrets(namespace).List(labels.Everything()) // listing from a cache never fails
		configMaps, _ := m.configMaps.ConfigMaps(namespace).List(labels.Everything())
		return manager.With(secrets, configMaps).Container(binary, namespace)
	}
	first := current()
	c.Mounts, c.Files = first.Mounts, first.Files
	c.Remount = func(remount pod.Remount) {
		m.mu.Lock()
		if m.mounted[namespace] == nil {
			m.mounted[namespace] = map[string]*mounted{}
		}
		m.mounted[namespace][manager.Name()] = &mounted{func() map[string]pod.Files { return current().Mounts }, first.Mounts, remount}
		m.mu.Unlock()
		m.refresh(namespace) // the objects may have changed since first was read
	}
}

func (m *mounts) changed(object any) {
	if accessor, err := meta.Accessor(object); err == nil && accessor.GetName() != project.RootCA {
		m.refresh(accessor.GetNamespace())
	}
}

func (m *mounts) refresh(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range m.mounted[namespace] {
		files := of.files()
		for folder, holds := range files {
			if !reflect.DeepEqual(of.now[folder], holds) {
				_ = of.remount(folder, holds) // fails only if the process is exiting
			}
		}
		of.now = files
	}
}
