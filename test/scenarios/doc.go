// Package scenarios contains the catalogue of scenarios. Each scenario describes one behavior that users of the
// operator rely on. The integration tests, the end-to-end tests and the fault tests run all of them.
//
// To add a scenario, write its steps in lifecycle.go if they apply to every kind, and otherwise in the file of the
// kind. Then add the scenario to All.
package scenarios

import "github.com/operator-assay/assay/harness/scenario"

// Catalogue holds the kinds whose scenarios are in the catalogue.
type Catalogue struct {
	WebServer, Memcached TestKind
}

// New returns the catalogue with the images that a cluster can run.
func New(images Images) Catalogue {
	c := Catalogue{WebServer: webServer, Memcached: memcached}
	c.WebServer.Images, c.Memcached.Images = images.WebServer, images.Memcached
	return c
}

// All returns the scenarios of the catalogue. On kind and in an existing cluster, the e2e suite skips some of them and
// runs them only on KWOK.
func (c Catalogue) All() []scenario.Scenario {
	var all []scenario.Scenario
	for _, k := range []TestKind{c.WebServer, c.Memcached} {
		all = append(all,
			create(k), scaleUp(k), scaleToZeroAndBack(k), upgrade(k),
			healDeployment(k), repairDrift(k), remove(k), recreate(k))
	}
	return append(all, healService(c.WebServer))
}

// All returns the scenarios with the published images.
func All() []scenario.Scenario { return New(Published).All() }
