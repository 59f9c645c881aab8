// Package scenarios contains the scenario catalogue. Each scenario describes one behavior that users of the operator
// rely on. The integration tests, the end-to-end tests and the fault tests run all of them.
//
// To add a scenario, put its steps in lifecycle.go if they apply to every kind, or in the kind's own file if they do
// not. Then add the scenario to All.
package scenarios

import "github.com/operator-assay/assay/harness/scenario"

// Catalogue holds the kinds whose scenarios are in the catalogue.
type Catalogue struct {
	WebServer, Memcached TestKind
}

// New returns the catalogue, using images that a cluster can run.
func New(images Images) Catalogue {
	c := Catalogue{WebServer: webServer, Memcached: memcached}
	c.WebServer.Images, c.Memcached.Images = images.WebServer, images.Memcached
	return c
}

// All returns every scenario in the catalogue. The e2e suite runs some of them only on KWOK, not on kind or an existing
// cluster.
func (c Catalogue) All() []scenario.Scenario {
	var all []scenario.Scenario
	for _, k := range []TestKind{c.WebServer, c.Memcached} {
		all = append(all,
			create(k), scaleUp(k), scaleToZeroAndBack(k), upgrade(k),
			healDeployment(k), repairDrift(k), remove(k), recreate(k))
	}
	return append(all, healService(c.WebServer))
}

// All returns all scenarios, using the published images.
func All() []scenario.Scenario { return New(Published).All() }
