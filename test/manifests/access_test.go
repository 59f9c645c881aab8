package manifests

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// The API server accepts a binding to a missing role or ServiceAccount, but then rejects the operator's requests.
func TestBindingsReferToExistingObjects(t *testing.T) {
	account := theOnly[corev1.ServiceAccount](t, "ServiceAccount")
	d := deployment(t)
	if d.Spec.Template.Spec.ServiceAccountName != account.Name || d.Namespace != account.Namespace {
		t.Errorf("got ServiceAccount %s/%s of the Pod, want %s/%s", d.Namespace, d.Spec.Template.Spec.ServiceAccountName, account.Namespace, account.Name)
	}
	expect := func(role rbacv1.RoleRef, namespace string, subjects []rbacv1.Subject) {
		exists := slices.ContainsFunc(installed[rbacv1.Role](t, role.Kind), func(r *rbacv1.Role) bool { return r.Name == role.Name && r.Namespace == namespace })
		if !exists || role.APIGroup != rbacv1.GroupName {
			t.Errorf("%s %s of group %q does not exist", role.Kind, role.Name, role.APIGroup)
		}
		want := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}}
		if !slices.Equal(subjects, want) {
			t.Errorf("subjects of %s %s: got %+v, want %+v", role.Kind, role.Name, subjects, want)
		}
	}
	for _, b := range installed[rbacv1.ClusterRoleBinding](t, "ClusterRoleBinding") {
		expect(b.RoleRef, "", b.Subjects)
	}
	for _, b := range installed[rbacv1.RoleBinding](t, "RoleBinding") {
		expect(b.RoleRef, b.Namespace, b.Subjects)
	}
}
