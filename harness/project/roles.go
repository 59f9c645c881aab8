package project

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// readRules collects the rules of all roles that are bound to the manager's ServiceAccount. If the workload has no
// namespace, users apply the manifests to a namespace of their choice. That must be the namespace in the bindings, so
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
			m.bind(o, binding.RoleRef, "", &m.ClusterRules, &m.ClusterRoles)
		}
	}
	for _, binding := range o.roleBindings {
		switch {
		case !bound(binding.Namespace, binding.Subjects):
		case binding.Namespace == w.namespace:
			m.bind(o, binding.RoleRef, binding.Namespace, &m.NamespaceRules, &m.NamespaceRoles)
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
		return strings.Join(m.missingRoles, "; ") + ": install it, or name roles with --role"
	}
	return fmt.Sprintf("no role is bound to ServiceAccount %s of %s, so it has no permissions: install the roles and their bindings, or name roles with --role", serviceAccount(w), w.name)
}

func serviceAccount(w workload) string { return cmp.Or(w.template.Spec.ServiceAccountName, "default") }

// HasRules reports whether any role is bound to the manager's ServiceAccount.
func (m *Manager) HasRules() bool {
	return len(m.ClusterRules)+len(m.NamespaceRules)+len(m.ClusterRoles)+len(m.NamespaceRoles) > 0
}

// builtIn matches the names of the built-in ClusterRoles. userFacing matches those that grant access to users' objects,
// such as Pods.
var (
	builtIn    = regexp.MustCompile(`^(system:.*|cluster-admin|admin|edit|view)$`)
	userFacing = regexp.MustCompile(`^(cluster-admin|admin|edit|view)$`)
)

func isUserFacing(role string) bool { return userFacing.MatchString(role) }

// bind adds the rules of the referenced role to rules. For a built-in ClusterRole, which is not in the manifests, it
// adds the name to roles instead.
func (m *Manager) bind(o objects, ref rbacv1.RoleRef, namespace string, rules *[]rbacv1.PolicyRule, roles *[]string) {
	for _, role := range o.roles {
		if ref.Kind == "Role" && role.Name == ref.Name && role.Namespace == namespace {
			*rules = append(*rules, role.Rules...)
			return
		}
	}
	for _, role := range o.clusterRoles {
		if ref.Kind == "ClusterRole" && role.Name == ref.Name {
			*rules = append(append(*rules, role.Rules...), aggregated(o, role)...)
			return
		}
	}
	if ref.Kind == "ClusterRole" && builtIn.MatchString(ref.Name) {
		*roles = append(*roles, ref.Name)
		for _, included := range includedRoles[ref.Name] {
			label := map[string]string{"rbac.authorization.k8s.io/aggregate-to-" + included: "true"}
			*rules = append(*rules, aggregated(o, &rbacv1.ClusterRole{AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: label}}}})...)
		}
		return
	}
	m.missingRoles = append(m.missingRoles, fmt.Sprintf("%s %s is bound, but missing in the manifests", ref.Kind, ref.Name))
}

// includedRoles lists the roles that are aggregated into each built-in role.
var includedRoles = map[string][]string{"admin": {"admin", "edit", "view"}, "edit": {"edit", "view"}, "view": {"view"}}

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
