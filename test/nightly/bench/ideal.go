package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/controller"
)

// ideal replaces the operator and sends only the necessary requests. The bench calls write for each created or changed
// resource. The ideal client writes the status when the observer reports that the Pods are ready.
type ideal struct {
	client.Client
	kind     kind
	children []string  // the operator's writes that created the children and Events of the first resource
	uid      types.UID // of the first resource
	status   map[string]any
}

// startIdeal finds the operator's writes for the first resource in requests, and creates an ideal client that repeats
// them. The client is a cluster administrator, because the operator's role does not allow it to apply statuses.
func (e *env) startIdeal(requests []auditv1.Event) {
	e.must(e.user.Create(e.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ideal-client"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: operatorAccount}},
	}))
	i := &ideal{kind: e.kind}
	for _, request := range requests {
		ref, body := request.ObjectRef, &unstructured.Unstructured{}
		if request.RequestObject == nil || request.ResponseStatus.Code/100 != 2 || !strings.HasPrefix(ref.Name, resourceKeys(1)[0].Name) {
			continue
		}
		e.must(body.UnmarshalJSON(request.RequestObject.Raw))
		if ref.Subresource == "status" {
			i.status, _ = body.Object["status"].(map[string]any)
		} else {
			i.children = append(i.children, string(request.RequestObject.Raw))
			if owners := body.GetOwnerReferences(); len(owners) > 0 {
				i.uid = owners[0].UID
			}
		}
	}
	var err error
	i.Client, err = client.New(e.identity(), client.Options{Mapper: e.user.RESTMapper()})
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

// write repeats the operator's writes for the given resource. If kinds are given, it writes only these kinds.
func (i *ideal) write(ctx context.Context, owner *unstructured.Unstructured, kinds ...string) error {
	first := resourceKeys(1)[0]
	names := strings.NewReplacer(first.Namespace, owner.GetNamespace(), first.Name, owner.GetName(), string(i.uid), string(owner.GetUID()))
	for _, text := range i.children {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON([]byte(names.Replace(text))); err != nil {
			return err
		}
		if len(kinds) > 0 && !slices.Contains(kinds, child.GetKind()) {
			continue
		}
		if child.GetKind() == "Deployment" {
			child.Object["spec"].(map[string]any)["replicas"] = owner.Object["spec"].(map[string]any)[i.kind.replicas]
		}
		child.SetResourceVersion("") // the operator's write fails if the child exists
		err := error(nil)
		if child.GetKind() == "Event" {
			err = i.Create(ctx, child)
		} else {
			err = i.Apply(ctx, client.ApplyConfigurationFromUnstructured(child), client.FieldOwner(controller.Name), client.ForceOwnership)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", child.GetKind(), child.GetName(), err)
		}
	}
	return nil
}

func (i *ideal) writeStatus(ctx context.Context, key types.NamespacedName, generation int64, pods []string) error {
	object, status := i.kind.resource(key), maps.Clone(i.status)
	status["observedGeneration"], status["nodes"] = generation, pods
	status["replicas"], status["readyReplicas"] = len(pods), len(pods)
	object.Object["status"] = status
	return i.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(controller.Name), client.ForceOwnership)
}
