// Package scenarios is the catalogue: what the operator's users rely on, each behaviour written once. The integration
// suite, the end-to-end suite and the fault explorer all run these.
//
// To add one, write its steps in lifecycle.go if it holds for every kind, else in the kind's own file, and add it to
// All.
package scenarios

import "github.com/operator-assay/assay/harness/scenario"

// Catalogue has the scenarios of both kinds.
type Catalogue struct {
	WebServer, Memcached TestKind
}

// New returns the catalogue with the images that a cluster can run.
func New(images Images) Catalogue {
	c := Catalogue{WebServer: webServer, Memcached: memcached}
	c.WebServer.Images, c.Memcached.Images = images.WebServer, images.Memcached
	return c
}

// All are the scenarios of the catalogue. On kind, and in an existing cluster, the e2e suite leaves some of them to KWOK.
func (c Catalogue) All() []scenario.Scenario {
	var all []scenario.Scenario
	for _, k := range []TestKind{c.WebServer, c.Memcached} {
		all = append(all,
			create(k), scaleUp(k), scaleToZeroAndBack(k), upgrade(k),
			healDeployment(k), repairDrift(k), remove(k), recreate(k))
	}
	return append(all, healService(c.WebServer))
}

// All is the catalogue with the published images.
func All() []scenario.Scenario { return New(Published).All() }
