package subject

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/project"
)

// grant gives a user the permissions of a manager in a namespace. If namespace is empty, it grants the cluster-wide
// ones.
func grant(ctx context.Context, plane *controlplane.ControlPlane, user string, identity *rest.Config, manager *project.Manager, namespace string) error {
	rules, err := rulesOf(ctx, plane.Client, manager, namespace)
	if err != nil || len(rules) == 0 {
		return err
	}
	return plane.Grant(ctx, user, identity, namespace, rules)
}

// rulesOf returns the rules of a manager in a namespace. If namespace is empty, it returns the cluster-wide rules. They
// include the rules of the ClusterRoles that every cluster has.
func rulesOf(ctx context.Context, reader client.Reader, manager *project.Manager, namespace string) ([]rbacv1.PolicyRule, error) {
	rules, names := manager.NamespaceRules, manager.NamespaceRoles
	if namespace == "" {
		rules, names = manager.ClusterRules, manager.ClusterRoles
	}
	rules = slices.Clone(rules)
	if len(names) > 0 {
		var roles rbacv1.ClusterRoleList
		if err := reader.List(ctx, &roles); err != nil {
			return nil, err
		}
		for _, name := range names {
			at := slices.IndexFunc(roles.Items, func(role rbacv1.ClusterRole) bool { return role.Name == name })
			if at < 0 {
				return nil, inputErrorf("ClusterRole %s is bound, but neither the manifests nor a new cluster contain it", name)
			}
			rules = append(rules, aggregate(roles.Items, roles.Items[at])...)
		}
	}
	if namespace != "" { // the API server rejects these in a Role, and ignores them in a RoleBinding to a ClusterRole
		rules = slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool { return len(rule.NonResourceURLs) > 0 })
	}
	return rules, nil
}

// aggregate returns the rules of a role and of the roles that are aggregated into it. This is necessary because the
// controller that aggregates roles does not run in a control plane.
func aggregate(roles []rbacv1.ClusterRole, role rbacv1.ClusterRole) []rbacv1.PolicyRule {
	if role.AggregationRule == nil {
		return role.Rules
	}
	var rules []rbacv1.PolicyRule
	for _, selector := range role.AggregationRule.ClusterRoleSelectors {
		matches, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			continue // the API server would reject the selector
		}
		for _, other := range roles {
			if matches.Matches(labels.Set(other.Labels)) && other.Name != role.Name {
				rules = append(rules, aggregate(roles, other)...)
			}
		}
	}
	return rules
}
