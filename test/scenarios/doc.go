// Package scenarios is the catalogue: what the operator's users count on, each behaviour written
// once. The integration suite, the end-to-end suite and the fault explorer all run these.
//
// To add one, write its steps in lifecycle.go when it holds for every kind, else in the kind's own
// file, and name it in All.
package scenarios

import "github.com/operator-assay/assay/test/harness/scenario"

// All is the catalogue.
func All() []scenario.Scenario {
	var all []scenario.Scenario
	for _, k := range []kind{webServer, memcached} {
		all = append(all,
			create(k), scaleUp(k), scaleToZeroAndBack(k), upgrade(k),
			healDeployment(k), repairDrift(k), remove(k), recreate(k))
	}
	return append(all, healService())
}
