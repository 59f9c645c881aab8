package subject

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/project"
)

// ownPods holds the UIDs of the Pods that represent the managers, by namespace and name. As in a cluster, a Pod is kept
// when its process restarts.
type ownPods struct{ uids sync.Map }

func (o *ownPods) create(ctx context.Context, writer client.Client, manager *project.Manager, namespace string) error {
	account, pod := manager.Pod(namespace)
	if err := client.IgnoreAlreadyExists(writer.Create(ctx, account)); err != nil {
		return fmt.Errorf("installing the ServiceAccount of %s: %w", manager.Name(), err)
	}
	if err := writer.Create(ctx, pod); err != nil {
		return fmt.Errorf("installing the Pod of %s: %w", manager.Name(), err)
	}
	o.uids.Store(types.NamespacedName{Namespace: namespace, Name: manager.Name()}, pod.UID)
	return nil
}

func (o *ownPods) uid(namespace, manager string) types.UID {
	uid, _ := o.uids.Load(types.NamespacedName{Namespace: namespace, Name: manager})
	known, _ := uid.(types.UID)
	return known
}
