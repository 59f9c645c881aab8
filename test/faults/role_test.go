package faults_test

import (
	"testing"

	"github.com/operator-assay/assay/harness/oracle"
	operatorconfig "github.com/operator-assay/assay/operator/config"
)

// exempt are the permissions that the operator's requests in this suite do not show.
var exempt = []string{
	// Admission checks these: when a child names its owner with blockOwnerDeletion, and when a child gets back an
	// owner reference that it lost.
	"update webservers.my.domain/finalizers",
	"update memcacheds.cache.example.com/finalizers",
	"delete deployments.apps",
	"delete services",
	// A repeated Event becomes a series after the same thing happened twice to one resource. The integration suite
	// does that.
	"patch events.events.k8s.io",
	// The operator's binary needs these, but not the manager in this process: for leader election, and to authorize
	// who reads its metrics. The integration suite runs the binary.
	"create leases.coordination.k8s.io",
	"get leases.coordination.k8s.io",
	"update leases.coordination.k8s.io",
	"create events",
	"create tokenreviews.authentication.k8s.io",
	"create subjectaccessreviews.authorization.k8s.io",
}

// checkRole compares the permissions that the operator has used with those that its role grants.
func checkRole(t *testing.T, used oracle.Permissions) {
	t.Helper()
	granted, err := oracle.Granted(operatorconfig.Role)
	noError(t, err)
	if err := used.CheckExact(granted, exempt...); err != nil {
		t.Errorf("the role is not exact: %v", err)
	}
}
