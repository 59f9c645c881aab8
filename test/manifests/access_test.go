package manifests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacvalidation "k8s.io/component-helpers/auth/rbac/validation"
	"k8s.io/utils/ptr"
)

// binding is a ClusterRoleBinding or a RoleBinding.
type binding struct {
	namespace string
	role      rbacv1.RoleRef
	subjects  []rbacv1.Subject
}

func bindings(t *testing.T) (all []binding) {
	t.Helper()
	for _, b := range installed[rbacv1.ClusterRoleBinding](t, "ClusterRoleBinding") {
		all = append(all, binding{"", b.RoleRef, b.Subjects})
	}
	for _, b := range installed[rbacv1.RoleBinding](t, "RoleBinding") {
		all = append(all, binding{b.Namespace, b.RoleRef, b.Subjects})
	}
	return all
}

// rules returns the rules of a ClusterRole, or of a Role in a namespace.
func rules(t *testing.T, kind, namespace, name string) (rules []rbacv1.PolicyRule, found bool) {
	t.Helper()
	if kind == "ClusterRole" {
		for _, role := range installed[rbacv1.ClusterRole](t, kind) {
			if role.Name == name {
				return role.Rules, true
			}
		}
	}
	for _, role := range installed[rbacv1.Role](t, "Role") {
		if kind == "Role" && role.Namespace == namespace && role.Name == name {
			return role.Rules, true
		}
	}
	return nil, false
}

// The API server accepts a binding to a role or a ServiceAccount that does not exist. All requests of the operator
// would then be rejected.
func TestEveryBindingIsOfTheDeploymentsServiceAccountAndARoleThatIsThere(t *testing.T) {
	account := theOnly[corev1.ServiceAccount](t, "ServiceAccount")
	d := deployment(t)
	if d.Spec.Template.Spec.ServiceAccountName != account.Name || d.Namespace != account.Namespace {
		t.Errorf("the Pod runs as %s/%s, installed is %s/%s", d.Namespace, d.Spec.Template.Spec.ServiceAccountName, account.Namespace, account.Name)
	}
	for _, b := range bindings(t) {
		if _, found := rules(t, b.role.Kind, b.namespace, b.role.Name); !found || b.role.APIGroup != rbacv1.GroupName {
			t.Errorf("there is no %s %s of %q", b.role.Kind, b.role.Name, b.role.APIGroup)
		}
		want := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}
		if len(b.subjects) != 1 || b.subjects[0] != want {
			t.Errorf("%s %s is bound to %+v", b.role.Kind, b.role.Name, b.subjects)
		}
	}
}

// Without a token, the operator is anonymous, and all of its requests are rejected.
func TestTheOperatorHasAToken(t *testing.T) {
	account, template := theOnly[corev1.ServiceAccount](t, "ServiceAccount"), deployment(t).Spec.Template
	if mounted := ptr.Deref(template.Spec.AutomountServiceAccountToken, ptr.Deref(account.AutomountServiceAccountToken, true)); !mounted {
		t.Error("the kubelet mounts no token of its ServiceAccount")
	}
}

// An aggregated ClusterRole would give the operator's permissions to users.
func TestNobodyElseGetsTheOperatorsRights(t *testing.T) {
	for _, role := range installed[rbacv1.ClusterRole](t, "ClusterRole") {
		for label := range role.Labels {
			if strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-") {
				t.Errorf("%s is part of other roles by its label %s", role.Name, label)
			}
		}
		if role.AggregationRule != nil {
			t.Errorf("%s has the rights of other roles: %+v", role.Name, role.AggregationRule)
		}
	}
}

// use describes how the operator uses a resource.
type use struct {
	group, resource string
	verbs           []string
	why             string
	name            string // limits the use to one object; empty for all objects
}

// Permissions that the operator needs in all namespaces, with their reasons. The integration suite also compares the
// role with the requests in the API server's audit log.
var everywhere = []use{
	{"my.domain", "webservers", []string{"list", "watch"}, "the WebServers that it keeps", ""},
	{"my.domain", "webservers/status", []string{"update"}, "their status", ""},
	{"my.domain", "webservers/finalizers", []string{"update"}, "an owner reference of a WebServer that blocks its deletion", ""},
	{"cache.example.com", "memcacheds", []string{"list", "watch"}, "the Memcacheds that it keeps", ""},
	{"cache.example.com", "memcacheds/status", []string{"update"}, "their status", ""},
	{"cache.example.com", "memcacheds/finalizers", []string{"update"}, "an owner reference of a Memcached that blocks its deletion", ""},
	{"apps", "deployments", []string{"create", "get", "list", "patch", "watch"}, "the Deployments of both", ""},
	{"apps", "deployments", []string{"delete"}, "a Deployment whose lost owner reference is put back", ""},
	{"", "services", []string{"create", "get", "list", "patch", "watch"}, "the Services of WebServers", ""},
	{"", "services", []string{"delete"}, "a Service whose lost owner reference is put back", ""},
	{"apps", "replicasets", []string{"list", "watch"}, "which Pods are a Deployment's", ""},
	{"", "pods", []string{"list", "watch"}, "the nodes of a status, and why Pods fail", ""},
	{"events.k8s.io", "events", []string{"create", "patch"}, "Events, and the series of those that repeat", ""},
	{"authentication.k8s.io", "tokenreviews", []string{"create"}, "who asks for metrics", ""},
	{"authorization.k8s.io", "subjectaccessreviews", []string{"create"}, "whether that one may read metrics", ""},
}

// Permissions that the operator needs in its own namespace.
var atHome = []use{
	{"coordination.k8s.io", "leases", []string{"create"}, "the leader's Lease, which cannot be named yet", ""},
	{"coordination.k8s.io", "leases", []string{"get", "update"}, "the leader's Lease", "assay-operator"},
	{"", "events", []string{"create"}, "the Event of a new leader", ""},
}

func TestTheRolesGrantWhatTheOperatorDoesAndNothingElse(t *testing.T) {
	granted := map[string][]rbacv1.PolicyRule{} // by namespace
	for _, b := range bindings(t) {
		bound, _ := rules(t, b.role.Kind, b.namespace, b.role.Name)
		granted[b.namespace] = append(granted[b.namespace], bound...)
	}
	for where, uses := range map[string][]use{"": everywhere, namespace: atHome} {
		var needed []rbacv1.PolicyRule
		for _, u := range uses {
			rule := rbacv1.PolicyRule{APIGroups: []string{u.group}, Resources: []string{u.resource}, Verbs: u.verbs}
			if u.name != "" {
				rule.ResourceNames = []string{u.name}
			}
			needed = append(needed, rule)
			if covered, lacking := rbacvalidation.Covers(granted[where], []rbacv1.PolicyRule{rule}); !covered {
				t.Errorf("it may not %v %s.%s, for %s", verbsOf(lacking), u.resource, u.group, u.why)
			}
		}
		if covered, more := rbacvalidation.Covers(needed, granted[where]); !covered {
			t.Errorf("nothing needs %s in the namespace %q", fmt.Sprint(more), where)
		}
	}
}

func verbsOf(rules []rbacv1.PolicyRule) (verbs []string) {
	for _, rule := range rules {
		verbs = append(verbs, rule.Verbs...)
	}
	return slices.Compact(verbs)
}

// Users bind this role to the ServiceAccount of their Prometheus.
func TestWhoReadsMetricsMayDoNothingElse(t *testing.T) {
	granted, _ := rules(t, "ClusterRole", "", "assay-metrics-reader")
	needed := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	if enough, _ := rbacvalidation.Covers(granted, needed); !enough {
		t.Errorf("a reader of metrics may not get /metrics, but %v", granted)
	}
	if covered, more := rbacvalidation.Covers(needed, granted); !covered {
		t.Errorf("a reader of metrics may %v, too", more)
	}
}
