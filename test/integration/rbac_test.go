package integration

import (
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/config"
)

// expectRoleIsExact compares the generated role with the API server's audit log of a user with that role. That every
// used permission is granted, the API server has enforced.
func expectRoleIsExact(user string) {
	GinkgoHelper()
	granted, err := oracle.Granted(config.Role)
	Expect(err).NotTo(HaveOccurred())
	Expect(maps.Keys(granted)).NotTo(ContainElement(ContainSubstring("secrets")))
	events, err := plane.Audit(user)
	Expect(err).NotTo(HaveOccurred())
	var requests record.Requests
	for _, event := range events {
		object, verb := event.ObjectRef, event.Verb
		if object == nil || object.Resource == "selfsubjectaccessreviews" {
			continue // discovery, and what the control plane asks as the user before the role is in force
		}
		Expect(event.ResponseStatus.Code).NotTo(BeEquivalentTo(403), "%s %s", event.Verb, event.RequestURI)
		if verb == "patch" {
			verb = "apply" // one that created needs create, too
		}
		requests = append(requests, record.Request{
			Verb: verb, Group: object.APIGroup, Resource: object.Resource, Subresource: object.Subresource, Status: int(event.ResponseStatus.Code)})
	}
	used := oracle.Permissions{}
	used.Add(requests)
	Expect(used.CheckExact(granted,
		// Admission checks these when a child names its owner with blockOwnerDeletion, and when it gets back the owner
		// reference that it lost.
		"update webservers.my.domain/finalizers", "update memcacheds.cache.example.com/finalizers", "delete deployments.apps", "delete services")).To(Succeed())
}
