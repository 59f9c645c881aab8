package subject

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/project"
)

// addUser creates an API user for a program and grants it the program's cluster-wide permissions.
func (p *environment) addUser(ctx context.Context, about *Subject, of *Program) (*rest.Config, error) {
	if of == about.operator && len(about.roles) > 0 {
		return p.plane.User(ctx, about.user(of), about.roles)
	}
	identity, err := p.plane.User(ctx, about.user(of))
	if err != nil {
		return nil, err
	}
	p.identities[of] = identity
	return identity, p.grant(ctx, about, of, "")
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
// companions, and creates the ConfigMaps, Secrets and namespaced resources in the manifests. It also creates a Pod for
// each manager, because an operator may look up its own Pod. If the API server rejects one of these objects, the error
// does not wrap the rejection, because Invent would then report that the sample was rejected.
func (s *Subject) prepare(on *environment) func(context.Context, string) error {
	plane := on.plane
	return func(ctx context.Context, namespace string) error {
		for of := range on.identities {
			if err := on.grant(ctx, s, of, namespace); err != nil {
				return err
			}
		}
		for _, object := range s.install.Objects(namespace) {
			if err := plane.Client.Create(ctx, object); err != nil {
				return installError(object.GetName(), err)
			}
		}
		if err := on.installResources(ctx, s.install, namespace); err != nil {
			return err
		}
		for _, manager := range s.install.Managers() {
			if err := on.createPod(ctx, manager, namespace); err != nil {
				return err
			}
		}
		if on.webhooks != nil { // after the objects are created, because the operator is not running yet and cannot admit them
			on.webhooks.Expect(ctx, namespace)
		}
		return nil
	}
}

// installError returns an error about an object in the manifests. It does not wrap a rejection; see prepare.
func installError(object string, err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsAlreadyExists(err) || meta.IsNoMatchError(err) {
		return inputErrorf("installing %s: %v: correct it, or remove it from the manifests", object, err)
	}
	return fmt.Errorf("installing %s: %w", object, err)
}

// installResources creates the namespaced resources in the manifests, or the cluster-scoped ones if namespace is empty.
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
		if scheme.Scheme.Recognizes(resource.GroupVersionKind()) {
			err = client.IgnoreAlreadyExists(err) // Kubernetes creates some built-in objects, such as the ServiceAccount default
		}
		if err != nil {
			return installError(resource.GetKind()+" "+resource.GetName(), err)
		}
	}
	return nil
}

// grant gives a program its permissions in a namespace, or its cluster-wide permissions if namespace is empty.
func (p *environment) grant(ctx context.Context, about *Subject, of *Program, namespace string) error {
	var roles rbacv1.ClusterRoleList
	if len(of.manager.ClusterRoles)+len(of.manager.NamespaceRoles) > 0 {
		if err := p.plane.Client.List(ctx, &roles); err != nil {
			return err
		}
	}
	rules, err := of.manager.Rules(namespace != "", roles.Items)
	if err != nil {
		return InputError{err}
	}
	if len(rules) == 0 {
		return nil
	}
	return p.plane.Grant(ctx, about.user(of), p.identities[of], namespace, rules)
}

// createPod creates a manager's Pod in a namespace. The Pod is kept when the manager's process restarts.
func (p *environment) createPod(ctx context.Context, manager *project.Manager, namespace string) error {
	account, pod := manager.Pod(namespace)
	if err := client.IgnoreAlreadyExists(p.plane.Client.Create(ctx, account)); err != nil {
		return installError("the ServiceAccount of "+manager.Name(), err)
	}
	if err := p.plane.Client.Create(ctx, pod); err != nil {
		return installError("the Pod of "+manager.Name(), err)
	}
	p.podUIDs.Store(client.ObjectKey{Namespace: namespace, Name: manager.Name()}, pod.UID)
	return nil
}

// podUID returns the UID of the Pod that createPod created, or an empty string.
func (p *environment) podUID(namespace, manager string) types.UID {
	uid, _ := p.podUIDs.Load(client.ObjectKey{Namespace: namespace, Name: manager})
	known, _ := uid.(types.UID)
	return known
}
