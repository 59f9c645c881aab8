package subject

import (
	"context"
	"fmt"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/project"
)

const user = "operator"

// identity creates the operator's user and grants it the operator's cluster-wide permissions.
func (s *Subject) identity(ctx context.Context, plane *controlplane.ControlPlane) (*rest.Config, error) {
	if len(s.roles) > 0 {
		return plane.User(ctx, user, s.roles)
	}
	return userOf(ctx, plane, user, s.install.Manager)
}

// userOf creates a user and grants it the manager's permissions in all namespaces.
func userOf(ctx context.Context, plane *controlplane.ControlPlane, name string, manager *project.Manager) (*rest.Config, error) {
	identity, err := plane.User(ctx, name)
	if err != nil {
		return nil, err
	}
	return identity, grant(ctx, plane, name, identity, manager, "")
}

// home returns the namespace in which the manifests deploy the operator. It is empty if there are no manifests or if
// the operator only works in its own namespace.
func (s *Subject) home() string {
	if s.install == nil || s.install.Manager.WatchesOnlyItsOwn() {
		return ""
	}
	return s.install.Manager.Namespace()
}

// prepare returns a function that prepares a run's namespace. The function grants permissions to the operator and its
// companions, and creates the ConfigMaps and Secrets in the manifests. It also creates Pods for the managers that may
// look up their own Pod.
func (s *Subject) prepare(on *environment, identity *rest.Config, companions []explore.Companion) func(context.Context, string) error {
	plane := on.plane
	return func(ctx context.Context, namespace string) error {
		if len(s.roles) == 0 {
			if err := grant(ctx, plane, user, identity, s.install.Manager, namespace); err != nil {
				return err
			}
		}
		if err := s.grantCompanions(ctx, on, companions, namespace); err != nil {
			return err
		}
		for _, object := range s.install.Objects(namespace) {
			if err := plane.Client.Create(ctx, object); err != nil {
				return fmt.Errorf("installing %s: %w", object.GetName(), err)
			}
		}
		if err := on.installResources(ctx, s.install, namespace); err != nil {
			return err
		}
		for _, manager := range s.install.Managers() {
			if !manager.WantsPod() {
				continue
			}
			if err := on.pods.create(ctx, plane.Client, manager, namespace); err != nil {
				return err
			}
		}
		if on.webhooks != nil { // after the objects are created, because the operator is not running yet and cannot admit them
			on.webhooks.Expect(ctx, namespace)
		}
		return nil
	}
}

// installResources creates the custom resources that are installed together with the operator. If namespace is empty,
// it creates the cluster-scoped ones, and otherwise the namespaced ones.
func (p *environment) installResources(ctx context.Context, install *project.Install, namespace string) error {
	if install == nil {
		return nil
	}
	for _, resource := range install.Resources {
		resource = resource.DeepCopy()
		namespaced, err := p.plane.Client.IsObjectNamespaced(resource)
		if err == nil && namespaced == (namespace == "") {
			continue // created by the other call
		}
		resource.SetNamespace(namespace)
		if err == nil {
			err = p.plane.Client.Create(ctx, resource)
		}
		if err != nil {
			return inputErrorf("installing %s %s: %w: correct it, or remove it from the manifests", resource.GetKind(), resource.GetName(), err)
		}
	}
	return nil
}

// grant gives a user the manager's permissions in a namespace. If namespace is empty, it grants the cluster-wide
// permissions.
func grant(ctx context.Context, plane *controlplane.ControlPlane, user string, identity *rest.Config, manager *project.Manager, namespace string) error {
	var roles rbacv1.ClusterRoleList
	if len(manager.ClusterRoles)+len(manager.NamespaceRoles) > 0 {
		if err := plane.Client.List(ctx, &roles); err != nil {
			return err
		}
	}
	var builtIn []*rbacv1.ClusterRole
	for i := range roles.Items {
		builtIn = append(builtIn, &roles.Items[i])
	}
	rules, err := manager.Rules(namespace != "", builtIn)
	if err != nil {
		return InputError{err}
	}
	if len(rules) == 0 {
		return nil
	}
	return plane.Grant(ctx, user, identity, namespace, rules)
}

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
