package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// readRules collects the rules of all roles that are bound to the manager's ServiceAccount. If the workload has no
// namespace, the user applies the manifests to a namespace of their choice. It must be the one in the bindings, so
// readRules does not compare namespaces.
func (m *Manager) readRules(o objects) {
	w := m.workload
	account := serviceAccount(w)
	bound := func(namespace string, subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && s.Name == account && (w.namespace == "" || cmp.Or(s.Namespace, namespace) == w.namespace)
		})
	}
	for _, binding := range o.clusterRoleBindings {
		if bound("", binding.Subjects) {
			m.ClusterRules = append(m.ClusterRules, m.rules(o, binding.RoleRef, "")...)
		}
	}
	for _, binding := range o.roleBindings {
		switch {
		case !bound(binding.Namespace, binding.Subjects):
		case binding.Namespace == w.namespace:
			m.NamespaceRules = append(m.NamespaceRules, m.rules(o, binding.RoleRef, binding.Namespace)...)
		default:
			m.install.note(fmt.Sprintf("RoleBinding %s: namespace %s does not exist in a run", binding.Name, binding.Namespace))
		}
	}
	for _, missing := range m.missingRoles {
		m.install.note(missing)
	}
}

// NoRules explains in one line why the manager has no permissions and how to fix that.
func (m *Manager) NoRules() string {
	w := m.workload
	if len(m.missingRoles) > 0 {
		return strings.Join(m.missingRoles, "; ") + ": install it, too, or name roles with --role"
	}
	return fmt.Sprintf("no role is bound to ServiceAccount %s of %s, so it may do nothing: install the roles and their bindings, too, or name roles with --role", serviceAccount(w), w.name)
}

func serviceAccount(w workload) string { return cmp.Or(w.template.Spec.ServiceAccountName, "default") }

// everything contains the rules of the built-in ClusterRole cluster-admin.
var everything = []rbacv1.PolicyRule{
	{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}},
	{NonResourceURLs: []string{"*"}, Verbs: []string{"*"}},
}

func (m *Manager) rules(o objects, ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	if ref.Kind == "Role" {
		for _, role := range o.roles {
			if role.Name == ref.Name && role.Namespace == namespace {
				return role.Rules
			}
		}
	}
	for _, role := range o.clusterRoles {
		if ref.Kind == "ClusterRole" && role.Name == ref.Name {
			return slices.Concat(role.Rules, aggregated(o, role))
		}
	}
	if ref.Name == "cluster-admin" {
		return everything
	}
	m.missingRoles = append(m.missingRoles, fmt.Sprintf("%s %s: it is bound, but not among the manifests", ref.Kind, ref.Name))
	return nil
}

// aggregated returns the rules of the ClusterRoles that are selected by the aggregation rule of role.
func aggregated(o objects, role *rbacv1.ClusterRole) []rbacv1.PolicyRule {
	if role.AggregationRule == nil {
		return nil
	}
	var rules []rbacv1.PolicyRule
	for _, selector := range role.AggregationRule.ClusterRoleSelectors {
		matches, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			continue // the API server would reject the selector
		}
		for _, other := range o.clusterRoles {
			if matches.Matches(labels.Set(other.Labels)) {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules
}
