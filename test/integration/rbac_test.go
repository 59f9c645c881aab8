package integration

import (
	"bytes"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/config"
)

// expectRoleIsExact expects that the generated roles grant exactly the permissions that the user has used according to
// the audit log. It mainly finds unused permissions, because a missing permission makes other specs fail.
func expectRoleIsExact(user string) {
	GinkgoHelper()
	// No request uses these permissions directly. An admission plugin checks them when a child's owner reference sets
	// blockOwnerDeletion, and when an owner reference is restored.
	used := sets.New("update webservers.my.domain/finalizers", "update memcacheds.cache.example.com/finalizers", "delete deployments.apps", "delete services")
	events, err := plane.Audit(user)
	Expect(err).NotTo(HaveOccurred())
	for _, event := range events {
		object := event.ObjectRef
		if object == nil || object.Resource == "selfsubjectaccessreviews" {
			continue // discovery, and requests that the control plane sends as this user before the role takes effect
		}
		Expect(event.ResponseStatus.Code).NotTo(BeEquivalentTo(403), "%s %s", event.Verb, event.RequestURI)
		permission := record.Request{Group: object.APIGroup, Resource: object.Resource, Subresource: object.Subresource}.Target()
		used.Insert(event.Verb + " " + permission)
		switch {
		case event.Verb == "patch" && event.ResponseStatus.Code == 201: // an apply that created the object
			used.Insert("create " + permission)
		case event.Verb == "watch": // an informer that cannot start with a watch falls back to a list
			used.Insert("list " + permission)
		}
	}
	granted := grantedPermissions()
	Expect(granted.Difference(used)).To(BeEmpty(), "granted but never used: remove it from the markers")
	Expect(used.Difference(granted)).To(BeEmpty(), "used but not granted")
}

// grantedPermissions returns the permissions of the generated roles, such as "patch deployments.apps".
func grantedPermissions() sets.Set[string] {
	GinkgoHelper()
	granted := sets.New[string]()
	roles := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(config.Role), 4096)
	for range strings.Count(string(config.Role), "\nkind: ") {
		var role rbacv1.ClusterRole // also decodes a Role
		Expect(roles.Decode(&role)).To(Succeed())
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					name, subresource, _ := strings.Cut(resource, "/")
					for _, verb := range rule.Verbs {
						granted.Insert(verb + " " + record.Request{Group: group, Resource: name, Subresource: subresource}.Target())
					}
				}
			}
		}
	}
	Expect(granted).NotTo(HaveKey(Or(ContainSubstring("secrets"), ContainSubstring("*"))))
	return granted
}
