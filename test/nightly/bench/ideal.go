package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	"github.com/operator-assay/assay/operator/controller"
)

// ideal is a client that replaces the operator and sends only the necessary requests. The bench calls its write method
// after each change. The observer triggers the status update when the Pods are ready.
type ideal struct {
	client.Client
	first    memcachedv1alpha1.Memcached // the first resource of the operator's cluster
	children []string                    // the operator's writes that created its Deployment and Event
}

// startIdeal creates an ideal client, which sends copies of the writes that the operator sent for its first resource.
// The client has the cluster-admin role, because the operator's role does not allow it to patch statuses.
func (e *env) startIdeal(requests []auditv1.Event) {
	e.must(e.user.Create(e.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ideal-client"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: operatorAccount}},
	}))
	i := &ideal{}
	for _, request := range requests {
		switch ref := request.ObjectRef; {
		case request.RequestObject == nil || request.ResponseStatus.Code/100 != 2 || !strings.HasPrefix(ref.Name, resourceKeys(1)[0].Name):
		case ref.Subresource == "status":
			e.must(json.Unmarshal(request.RequestObject.Raw, &i.first))
		default:
			i.children = append(i.children, string(request.RequestObject.Raw))
		}
	}
	var err error
	i.Client, err = client.New(e.identity(), client.Options{Scheme: controller.Scheme(), Mapper: e.user.RESTMapper()})
	e.must(err)
	e.ideal = i
	e.observer.onReady = func(key types.NamespacedName, generation int64, pods []string) {
		go func() {
			e.slots <- struct{}{}
			defer func() { <-e.slots }()
			if err := i.writeStatus(e.ctx, key, generation, pods); err != nil {
				e.fail(fmt.Errorf("the ideal client's status of %s: %w", key, err))
			}
		}()
	}
}

func (i *ideal) write(ctx context.Context, owner *memcachedv1alpha1.Memcached, kinds ...string) error {
	names := strings.NewReplacer(i.first.Namespace, owner.Namespace, i.first.Name, owner.Name, string(i.first.UID), string(owner.UID))
	for _, text := range i.children {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON([]byte(names.Replace(text))); err != nil {
			return err
		}
		if !slices.Contains(kinds, child.GetKind()) {
			continue
		}
		var err error
		if child.GetKind() == "Event" {
			err = i.Create(ctx, child)
		} else {
			child.SetResourceVersion("") // the operator sets it so that the write fails if the child exists
			child.Object["spec"].(map[string]any)["replicas"] = int64(owner.Spec.Size)
			err = i.Apply(ctx, client.ApplyConfigurationFromUnstructured(child), client.FieldOwner(controller.Name), client.ForceOwnership)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", child.GetKind(), child.GetName(), err)
		}
	}
	return nil
}

func (i *ideal) writeStatus(ctx context.Context, key types.NamespacedName, generation int64, pods []string) error {
	object := memcached(key)
	object.Status = *i.first.Status.DeepCopy()
	object.Status.ObservedGeneration, object.Status.Nodes = generation, pods
	object.Status.Replicas, object.Status.ReadyReplicas = int32(len(pods)), int32(len(pods))
	return i.Status().Patch(ctx, object, client.Merge, client.FieldOwner(controller.Name))
}
