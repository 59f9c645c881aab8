package integration

import (
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/config"
)

// expectRoleIsExact expects that the generated role grants exactly the permissions that the user's audited requests
// need. It mainly finds unused permissions, because a missing permission makes other specs fail.
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
			continue // discovery, and requests that the control plane sends as this user before the role takes effect
		}
		Expect(event.ResponseStatus.Code).NotTo(BeEquivalentTo(403), "%s %s", event.Verb, event.RequestURI)
		if verb == "patch" {
			verb = "apply" // an apply that creates an object also needs create
		}
		requests = append(requests, record.Request{
			Verb: verb, Group: object.APIGroup, Resource: object.Resource, Subresource: object.Subresource, Status: int(event.ResponseStatus.Code)})
	}
	used := oracle.Permissions{}
	used.Add(requests)
	Expect(used.CheckExact(granted,
		// No request uses these permissions directly. An admission plugin checks them when a child's owner reference
		// sets blockOwnerDeletion, and when an owner reference is restored.
		"update webservers.my.domain/finalizers", "update memcacheds.cache.example.com/finalizers", "delete deployments.apps", "delete services")).To(Succeed())
}
