package subject

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
)

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
