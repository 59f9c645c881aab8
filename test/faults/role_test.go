package faults_test

import (
	"testing"

	"github.com/operator-assay/assay/harness/oracle"
	operatorconfig "github.com/operator-assay/assay/operator/config"
)

// exempt lists permissions that the operator needs, but that do not appear in its requests in this suite.
var exempt = []string{
	// Admission checks these permissions when a child sets blockOwnerDeletion in its owner reference, and when the
	// owner reference of a child is restored.
	"update webservers.my.domain/finalizers",
	"update memcacheds.cache.example.com/finalizers",
	"delete deployments.apps",
	"delete services",
	// An Event becomes a series only if it is repeated for the same resource. The integration tests cover this.
	"patch events.events.k8s.io",
	// The operator's binary needs these permissions for leader election and for the authorization of metrics requests.
	// The manager in this process does not. The integration tests run the binary.
	"create leases.coordination.k8s.io",
	"get leases.coordination.k8s.io",
	"update leases.coordination.k8s.io",
	"create events",
	"create tokenreviews.authentication.k8s.io",
	"create subjectaccessreviews.authorization.k8s.io",
}

func checkRole(t *testing.T, used oracle.Permissions) {
	t.Helper()
	granted, err := oracle.Granted(operatorconfig.Role)
	noError(t, err)
	if err := used.CheckExact(granted, exempt...); err != nil {
		t.Errorf("the role does not match the used permissions: %v", err)
	}
}
