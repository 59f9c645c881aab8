package subject

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/operator-assay/assay/harness/project"
)

func TestRulesIncludeBuiltInRoles(t *testing.T) {
	resources := func(names ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: names, Verbs: []string{"get"}}}
	}
	urls := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	role := func(name, aggregatedTo string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if aggregatedTo != "" {
			role.Labels = map[string]string{"to": aggregatedTo}
		}
		return role
	}
	edit := role("edit", "", nil)
	edit.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"to": "edit"}}}}
	view := role("view", "edit", nil)
	view.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"to": "view"}}}}
	reader := fake.NewClientBuilder().WithObjects(edit, view, role("a", "edit", resources("pods")), role("b", "view", resources("services")),
		role("cluster-admin", "", append(resources("*"), urls...))).Build()
	for _, test := range []struct {
		manager   project.Manager
		namespace string
		want      string
	}{
		{project.Manager{NamespaceRoles: []string{"edit"}}, "run", "pods services"},
		{project.Manager{NamespaceRoles: []string{"cluster-admin"}}, "run", "*"},
		{project.Manager{NamespaceRules: append(resources("secrets"), urls...)}, "run", "secrets"},
		{project.Manager{ClusterRules: append(resources("secrets"), urls...), ClusterRoles: []string{"view"}}, "", "secrets /metrics services"},
		{project.Manager{ClusterRoles: []string{"cluster-admin"}}, "", "* /metrics"},
		{project.Manager{ClusterRoles: []string{"cluster-admin"}}, "run", ""},
		{project.Manager{ClusterRoles: []string{"system:none"}}, "", "ClusterRole system:none is bound, but neither the manifests nor a new cluster contain it"},
	} {
		rules, err := rulesOf(t.Context(), reader, &test.manager, test.namespace)
		var got []string
		for _, rule := range rules {
			got = append(append(got, rule.Resources...), rule.NonResourceURLs...)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v in %q: got %s, want %s", test.manager, test.namespace, fmt.Sprint(got), test.want)
		}
	}
}
