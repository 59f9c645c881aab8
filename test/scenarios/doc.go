// Package scenarios is the catalogue: what the operator's users count on, each behaviour written
// once. The integration suite, the end-to-end suite and the fault explorer all run these.
//
// To add one, write its steps in lifecycle.go when it holds for every kind, else in the kind's own
// file, and name it in All.
package scenarios

import "github.com/operator-assay/assay/test/harness/scenario"

// Catalogue tells the stories of both kinds.
type Catalogue struct {
	WebServer, Memcached TestKind
}

// New is the catalogue with the images that a cluster can have.
func New(images Images) Catalogue {
	c := Catalogue{WebServer: webServer, Memcached: memcached}
	c.WebServer.images, c.Memcached.images = images.WebServer, images.Memcached
	return c
}

// All are the stories that every tier plays.
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
