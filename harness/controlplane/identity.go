package controlplane

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/operator-assay/assay/harness/wait"
)

// User returns the rest.Config for a ServiceAccount in kube-system that has only the permissions in the manifests. User
// creates the ServiceAccount with the given name. The manifests are YAML files with one or more documents, such as
// the output of controller-gen. For each ClusterRole and Role, User creates a ClusterRole with the same rules and
// a name that is unique to the user, and binds it to the user. Documents of other kinds are skipped.
//
// The namespace of a Role is created if it does not exist. A Role without a namespace goes to "default", as with
// kubectl apply. The permissions are in effect when User returns. If User is called again with the same name, it
// replaces the rules of roles with the same name.
func (cp *ControlPlane) User(ctx context.Context, name string, manifests ...[]byte) (*rest.Config, error) {
	config, err := cp.authenticate(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("creating user %s: %w", name, err)
	}
	var granted []rbacv1.Role
	for _, manifest := range manifests {
		roles, err := parseRoles(manifest)
		if err != nil {
			return nil, fmt.Errorf("roles of user %s: %w", name, err)
		}
		for _, role := range roles {
			if err := cp.bind(ctx, name, role); err != nil {
				return nil, fmt.Errorf("granting %s to user %s: %w", role.Name, name, err)
			}
		}
		granted = append(granted, roles...)
	}
	return config, waitForGrants(ctx, config, granted)
}

// Grant gives a user more permissions, either in a namespace or, if namespace is empty, in the whole cluster. config is
// the user's config, as returned by User. The permissions are in effect when Grant returns.
func (cp *ControlPlane) Grant(ctx context.Context, user string, config *rest.Config, namespace string, rules []rbacv1.PolicyRule) error {
	role := rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "granted"}, Rules: rules}
	if err := cp.bind(ctx, user, role); err != nil {
		return fmt.Errorf("granting permissions in %s to user %s: %w", namespace, user, err)
	}
	return waitForGrants(ctx, config, []rbacv1.Role{role})
}

// authenticate creates the user's ServiceAccount and returns a config with a token for it.
func (cp *ControlPlane) authenticate(ctx context.Context, name string) (*rest.Config, error) {
	accounts := cp.clientset.CoreV1().ServiceAccounts(metav1.NamespaceSystem)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); client.IgnoreAlreadyExists(err) != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(365 * 24 * 60 * 60))}}
	request, err := accounts.CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(cp.Config)
	config.BearerToken = request.Status.Token
	return config, nil
}

// parseRoles returns the roles in a manifest. It returns a ClusterRole as a Role without a namespace.
func parseRoles(manifest []byte) ([]rbacv1.Role, error) {
	var roles []rbacv1.Role
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		var role rbacv1.Role
		if err := documents.Decode(&role); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if role.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		switch role.Kind {
		case "ClusterRole":
			role.Namespace = ""
			roles = append(roles, role)
		case "Role":
			role.Namespace = cmp.Or(role.Namespace, metav1.NamespaceDefault)
			roles = append(roles, role)
		}
	}
	if len(roles) == 0 {
		return nil, errors.New("the manifests contain no ClusterRole or Role")
	}
	return roles, nil
}

// bind creates or updates a ClusterRole with the rules of a role, and binds it to the user in the role's namespace.
func (cp *ControlPlane) bind(ctx context.Context, user string, role rbacv1.Role) error {
	name := user + ":" + role.Namespace + ":" + role.Name
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: user}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	copied := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := cp.put(ctx, copied, func() { copied.Rules = role.Rules }); err != nil {
		return err
	}
	if role.Namespace == "" {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return cp.put(ctx, binding, func() { binding.Subjects, binding.RoleRef = subjects, ref })
	}
	where := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: role.Namespace}}
	if err := client.IgnoreAlreadyExists(cp.Client.Create(ctx, where)); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: role.Namespace}}
	return cp.put(ctx, binding, func() { binding.Subjects, binding.RoleRef = subjects, ref })
}

func (cp *ControlPlane) put(ctx context.Context, object client.Object, change func()) error {
	_, err := controllerutil.CreateOrUpdate(ctx, cp.Client, object, func() error { change(); return nil })
	return err
}

// waitForGrants waits until the API server allows one action of each rule. The API server's authorizer learns about
// roles and bindings through its own watches and does not report its progress, so waitForGrants polls.
func waitForGrants(ctx context.Context, config *rest.Config, granted []rbacv1.Role) error {
	user, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, role := range granted {
		for _, rule := range role.Rules {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: sampleAction(role.Namespace, rule)}
			err := wait.For(ctx, startTimeout, wait.Poll(5*time.Millisecond), func(ctx context.Context) error {
				answer, err := user.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
				if err != nil {
					return wait.Stop(err)
				}
				if !answer.Status.Allowed {
					return errors.New("the API server still forbids it")
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("waiting until rule %v is in effect: %w", rule, err)
			}
		}
	}
	return nil
}

func sampleAction(namespace string, rule rbacv1.PolicyRule) authorizationv1.SelfSubjectAccessReviewSpec {
	if len(rule.NonResourceURLs) > 0 {
		return authorizationv1.SelfSubjectAccessReviewSpec{NonResourceAttributes: &authorizationv1.NonResourceAttributes{
			Path: rule.NonResourceURLs[0],
			Verb: rule.Verbs[0],
		}}
	}
	attributes := &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0]}
	attributes.Resource, attributes.Subresource, _ = strings.Cut(rule.Resources[0], "/")
	if len(rule.ResourceNames) > 0 {
		attributes.Name = rule.ResourceNames[0]
	}
	return authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}
}
