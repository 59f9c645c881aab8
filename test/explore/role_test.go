package explore_test

import (
	"testing"

	operatorconfig "github.com/operator-assay/assay/operator/config"
	"github.com/operator-assay/assay/test/harness/oracle"
)

// exempt are the uses that the operator's requests do not show.
var exempt = []string{
	// Admission asks for these: when a child names its owner as one that waits for it, and when a child is
	// given back the owner that it lost.
	"update webservers.my.domain/finalizers",
	"update memcacheds.cache.example.com/finalizers",
	"delete deployments.apps",
	"delete services",
	// A repeated Event becomes a series after the same thing happened twice to one resource. The integration suite does that.
	"patch events.events.k8s.io",
	// The program asks for these, but not the manager that runs here: to elect a leader, and to find out who
	// may read its metrics. The integration suite runs the program.
	"create leases.coordination.k8s.io",
	"get leases.coordination.k8s.io",
	"update leases.coordination.k8s.io",
	"create events",
	"create tokenreviews.authentication.k8s.io",
	"create subjectaccessreviews.authorization.k8s.io",
}

// checkRole compares what the operator has used with what its role grants: nothing more, nothing less.
func checkRole(t *testing.T, used oracle.Permissions) {
	t.Helper()
	granted, err := oracle.Granted(operatorconfig.Role)
	if err != nil {
		t.Fatal(err)
	}
	if err := used.CheckExact(granted, exempt...); err != nil {
		t.Errorf("the role is not exact: %v", err)
	}
}
