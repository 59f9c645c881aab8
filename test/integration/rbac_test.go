package integration

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operator-assay/assay/operator/config"
)

// expectRoleIsExact compares the generated role with the API server's audit log of a user with that role. That every
// used permission is granted, the API server has enforced.
func expectRoleIsExact(user string) {
	GinkgoHelper()
	granted := map[string]bool{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(config.Role), 4096)
	var role rbacv1.ClusterRole // a Role has the same rules
	for documents.Decode(&role) == nil {
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						Expect([]string{group, resource, verb}).NotTo(ContainElement("*"))
						granted[fmt.Sprintf("%s %s.%s", verb, resource, group)] = true
					}
				}
			}
		}
		role = rbacv1.ClusterRole{}
	}
	Expect(granted).NotTo(BeEmpty())
	Expect(slices.Sorted(maps.Keys(granted))).NotTo(ContainElement(ContainSubstring("secrets")))

	used := map[string]bool{
		// Admission checks these when a child names its owner with blockOwnerDeletion.
		"update webservers/finalizers.my.domain":         true,
		"update memcacheds/finalizers.cache.example.com": true,
		// Admission checks these when a child gets back the owner reference that it lost.
		"delete deployments.apps": true,
		"delete services.":        true,
	}
	events, err := plane.Audit(user)
	Expect(err).NotTo(HaveOccurred())
	for _, event := range events {
		object := event.ObjectRef
		if object == nil || object.Resource == "selfsubjectaccessreviews" {
			continue // discovery, and what the control plane asks as the user before the role is in force
		}
		Expect(event.ResponseStatus.Code).NotTo(BeEquivalentTo(403), "%s %s", event.Verb, event.RequestURI)
		resource := object.Resource
		if object.Subresource != "" {
			resource += "/" + object.Subresource
		}
		use := func(verb string) { used[fmt.Sprintf("%s %s.%s", verb, resource, object.APIGroup)] = true }
		use(event.Verb)
		switch {
		case event.Verb == "patch" && event.ResponseStatus.Code == 201:
			use("create") // a server-side apply that created
		case event.Verb == "watch":
			use("list") // informers fall back to a list where a watch cannot begin with one
		}
	}
	Expect(slices.Sorted(maps.Keys(granted))).To(Equal(slices.Sorted(maps.Keys(used))))
}
