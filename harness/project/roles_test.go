package project

import (
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func resourcesOf(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, rule := range rules {
		all = append(append(all, rule.Resources...), rule.NonResourceURLs...)
	}
	return all
}

func clusterRoles(install *Install) (all []rbacv1.ClusterRole) {
	for _, role := range install.objects.clusterRoles {
		all = append(all, *role)
	}
	return all
}

func TestRulesComeFromBoundRoles(t *testing.T) {
	install := installOf(t, manifest, "")
	rules, err := install.Manager.Rules(false, clusterRoles(install))
	noError(t, err)
	expectEqual(t, "rules everywhere", resourcesOf(rules), "nodes", "pods")
	expectEqual(t, "rules in its namespace", resourcesOf(install.Manager.NamespaceRules), "leases")
}

// Objects without a namespace belong to the operator's namespace.
func TestRolesApplyInNamespaceOfOperator(t *testing.T) {
	const text = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager%s}, spec: {template: {spec: {serviceAccount: account, containers: [{name: manager, envFrom: [{configMapRef: {name: settings}}]}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings%s}, data: {A: b}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: own%s}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: own%s}, roleRef: {kind: Role, name: own}, subjects: [{kind: ServiceAccount, name: account, namespace: mine}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: elsewhere, namespace: kube-system}, roleRef: {kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: account, namespace: mine}]}
`
	const mine = ", namespace: mine"
	for _, namespaces := range [][]any{{mine, mine, mine, mine}, {"", "", "", ""}, {"", mine, mine, mine}, {mine, "", "", ""}, {"", "", "", mine}} {
		install := installOf(t, fmt.Sprintf(text, namespaces...), "")
		expectEqual(t, "rules", resourcesOf(install.Manager.NamespaceRules), "secrets")
		expectEqual(t, "variables", install.Manager.Container("", "run-1").Env, "A=b")
		expectEqual(t, "notes", install.Notes, "RoleBinding elsewhere: a run has only the operator's namespace, so the permissions in kube-system are not granted")
	}
}

func TestRolesAreBoundToUserOrGroup(t *testing.T) {
	for subject, want := range map[string][]string{
		`kind: User, name: "system:serviceaccount:mine:default"`: {"secrets"},
		`kind: Group, name: "system:serviceaccounts:mine"`:       {"secrets"},
		`kind: Group, name: "system:serviceaccounts"`:            {"secrets"},
		`kind: Group, name: "system:authenticated"`:              {"secrets"},
		`kind: Group, name: "system:serviceaccounts:other"`:      nil,
		`kind: User, name: default`:                              nil,
	} {
		install := installOf(t, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: mine}, spec: {template: {spec: {containers: [{name: manager}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: a}, subjects: [{`+subject+`}]}
`, "")
		expectEqual(t, subject, resourcesOf(install.Manager.ClusterRules), want...)
	}
}

// kube-controller-manager sets the rules of an aggregated role. They may include all rules of the built-in edit role.
func TestAggregatingRoleMayGrantAccessEverywhere(t *testing.T) {
	manager := installOf(t, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: mine}, spec: {template: {spec: {containers: [{name: manager}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}}]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: a}, subjects: [{kind: ServiceAccount, name: default, namespace: mine}]}
`, "").Manager
	if manager.WatchesOnlyItsOwn() {
		t.Error("got an operator that watches only its own namespace, want one that watches all")
	}
}

func TestRulesIncludeBuiltInRoles(t *testing.T) {
	const text = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: mine}, spec: {template: {spec: {containers: [{name: manager}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: mine}, roleRef: {kind: ClusterRole, name: edit}, subjects: [{kind: ServiceAccount, name: default}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: "system:auth-delegator"}, subjects: [{kind: ServiceAccount, name: default, namespace: mine}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c, labels: {to: view}}, rules: [{apiGroups: [a], resources: [things], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: d, namespace: mine}, roleRef: {kind: ClusterRole, name: d}, subjects: [{kind: ServiceAccount, name: default}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: d}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: edit}}]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: e, namespace: mine}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: default}]}
`
	install := installOf(t, text, "")
	m := install.Manager
	expectEqual(t, "notes", install.Notes)
	if !m.HasRules() || !m.WatchesOnlyItsOwn() {
		t.Errorf("got has rules: %t, watches only its own namespace: %t, want true", m.HasRules(), m.WatchesOnlyItsOwn())
	}
	rules := func(names ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Resources: names}, {NonResourceURLs: []string{"/metrics"}}}
	}
	aggregating := func(name, to, of string) rbacv1.ClusterRole {
		rule := &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"to": of}}}}
		return rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"to": to}}, AggregationRule: rule}
	}
	builtIn := []rbacv1.ClusterRole{
		{ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"}, Rules: rules("*")},
		aggregating("edit", "view", "edit"), aggregating("view", "edit", "view"), // the two select each other
		{ObjectMeta: metav1.ObjectMeta{Name: "part", Labels: map[string]string{"to": "edit"}}, Rules: rules("pods")},
		{ObjectMeta: metav1.ObjectMeta{Name: "system:auth-delegator"}, Rules: rules("tokenreviews")},
	}
	all := slices.Concat(builtIn, clusterRoles(install))
	for inNamespace, want := range map[bool][]string{true: {"things", "pods", "pods", "things", "pods", "*"}, false: {"tokenreviews", "/metrics"}} {
		got, err := m.Rules(inNamespace, all)
		noError(t, err)
		expectEqual(t, "rules", resourcesOf(got), want...)
	}
	const want = "ClusterRole edit is bound, but missing in the cluster"
	if _, err := m.Rules(true, nil); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
