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

func (w workload) serviceAccount() string {
	spec := w.template.Spec
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount, "default")
}

// namespaceIn returns the namespace of a subject that has the workload's ServiceAccount name, or an empty string.
func (w workload) namespaceIn(subjects []rbacv1.Subject) string {
	for _, s := range subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Name == w.serviceAccount() {
			return s.Namespace
		}
	}
	return ""
}

// isSubject reports whether the subject s of a binding in namespace includes the workload's ServiceAccount.
func (w workload) isSubject(s rbacv1.Subject, namespace string) bool {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return s.Name == w.serviceAccount() && cmp.Or(s.Namespace, namespace) == w.namespace
	case rbacv1.UserKind:
		return s.Name == "system:serviceaccount:"+w.namespace+":"+w.serviceAccount()
	case rbacv1.GroupKind:
		return slices.Contains([]string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + w.namespace}, s.Name)
	}
	return false
}

func (m *Manager) readRules() {
	o := m.install.objects
	isBound := func(namespace string, subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool { return m.workload.isSubject(s, namespace) })
	}
	for _, binding := range o.clusterRoleBindings {
		if isBound("", binding.Subjects) {
			m.bind(binding.RoleRef, "", &m.ClusterRules, &m.ClusterRoles)
		}
	}
	for _, binding := range o.roleBindings {
		switch {
		case !isBound(binding.Namespace, binding.Subjects):
		case binding.Namespace == m.workload.namespace:
			m.bind(binding.RoleRef, binding.Namespace, &m.NamespaceRules, &m.NamespaceRoles)
		default:
			m.install.note(fmt.Sprintf("RoleBinding %s: a run has only the operator's namespace, so the permissions in %s are not granted", binding.Name, binding.Namespace))
		}
	}
}

// NoRules explains in one line why the manager has no permissions and how to fix that.
func (m *Manager) NoRules() string {
	if len(m.missingRoles) > 0 {
		return strings.Join(m.missingRoles, "; ") + ": install it, or pass roles with --role"
	}
	elsewhere := ""
	for _, binding := range m.install.objects.clusterRoleBindings {
		if namespace := m.workload.namespaceIn(binding.Subjects); namespace != "" && namespace != m.workload.namespace {
			elsewhere = fmt.Sprintf(" in namespace %s (ClusterRoleBinding %s is for namespace %s)", m.workload.namespace, binding.Name, namespace)
		}
	}
	return fmt.Sprintf("no role is bound to ServiceAccount %s of Deployment %s%s, so the operator has no permissions: add roles and bindings to the manifests, or pass a file that contains them with --role", m.workload.serviceAccount(), m.Name(), elsewhere)
}

// HasRules reports whether any role is bound to the manager's ServiceAccount.
func (m *Manager) HasRules() bool {
	return len(m.ClusterRules)+len(m.NamespaceRules)+len(m.ClusterRoles)+len(m.NamespaceRoles) > 0
}

var builtIn = regexp.MustCompile(`^(system:.*|cluster-admin|admin|edit|view)$`)

// isUserFacing reports whether a role with unknown rules may grant access to users' objects, such as Pods.
func isUserFacing(role string) bool { return !strings.HasPrefix(role, "system:") }

// bind adds the rules of the referenced role to rules. If the role is a built-in ClusterRole that is not in the
// manifests, or aggregates other roles, bind adds its name to roles. If the role is missing, bind adds a note.
func (m *Manager) bind(ref rbacv1.RoleRef, namespace string, rules *[]rbacv1.PolicyRule, roles *[]string) {
	o := m.install.objects
	for _, role := range o.roles {
		if ref.Kind == "Role" && role.Name == ref.Name && role.Namespace == namespace {
			*rules = append(*rules, role.Rules...)
			return
		}
	}
	for _, role := range o.clusterRoles {
		if ref.Kind == "ClusterRole" && role.Name == ref.Name {
			if role.AggregationRule != nil {
				*roles = append(*roles, role.Name)
			} else {
				*rules = append(*rules, role.Rules...)
			}
			return
		}
	}
	if ref.Kind == "ClusterRole" && builtIn.MatchString(ref.Name) {
		*roles = append(*roles, ref.Name)
		return
	}
	missing := fmt.Sprintf("%s %s is bound, but missing in the manifests", ref.Kind, ref.Name)
	m.missingRoles = append(m.missingRoles, missing)
	m.install.note(missing)
}

// Rules returns the rules that apply in the manager's namespace if inNamespace is true, and otherwise those that apply
// in all namespaces. clusterRoles holds the ClusterRoles in the cluster, including those in the manifests.
func (m *Manager) Rules(inNamespace bool, clusterRoles []rbacv1.ClusterRole) ([]rbacv1.PolicyRule, error) {
	rules, names := m.ClusterRules, m.ClusterRoles
	if inNamespace {
		rules, names = m.NamespaceRules, m.NamespaceRoles
	}
	rules = slices.Clone(rules)
	for _, name := range names {
		at := slices.IndexFunc(clusterRoles, func(role rbacv1.ClusterRole) bool { return role.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("ClusterRole %s is bound, but missing in the cluster", name)
		}
		rules = append(rules, aggregate(clusterRoles[at], clusterRoles)...)
	}
	if inNamespace { // the API server rejects these in a Role, and ignores them in a RoleBinding to a ClusterRole
		rules = slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool { return len(rule.NonResourceURLs) > 0 })
	}
	return rules, nil
}

// aggregate returns a role's rules. Like kube-controller-manager, it ignores an aggregated role's own rules.
func aggregate(role rbacv1.ClusterRole, roles []rbacv1.ClusterRole) []rbacv1.PolicyRule {
	if role.AggregationRule == nil {
		return role.Rules
	}
	others := slices.DeleteFunc(slices.Clone(roles), func(other rbacv1.ClusterRole) bool { return other.Name == role.Name })
	var rules []rbacv1.PolicyRule
	for _, selector := range role.AggregationRule.ClusterRoleSelectors {
		matches, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			continue // the API server would reject the selector
		}
		for _, other := range others {
			if matches.Matches(labels.Set(other.Labels)) {
				rules = append(rules, aggregate(other, others)...)
			}
		}
	}
	return rules
}
