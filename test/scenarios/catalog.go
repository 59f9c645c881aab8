package scenarios

import "github.com/operator-assay/assay/harness/scenario"

// Catalog contains the kinds under test, each with the images for its scenarios.
type Catalog struct {
	WebServer, Memcached TestKind
}

// New returns a catalog whose scenarios use the given images.
func New(images Images) Catalog {
	c := Catalog{WebServer: webServer, Memcached: memcached}
	c.WebServer.Images, c.Memcached.Images = images.WebServer, images.Memcached
	return c
}

// All returns every scenario in the catalog. The e2e suite runs some only on KWOK, not on kind or an existing cluster.
func (c Catalog) All() []scenario.Scenario {
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

// Images contains the images of the scenarios' Pods. The images do not have to exist if the Pods are simulated.
type Images struct {
	WebServer, Memcached Versions
}

// Versions contains two images of the same server. An upgrade replaces the image in From with the image in To.
type Versions struct {
	From, To string
}

// Published contains public images. The sample WebServer and the default of the Memcached CRD use the From images.
var Published = Images{
	WebServer: Versions{From: "nginx:1.23.1", To: "nginx:1.23.0"},
	Memcached: Versions{From: "memcached:1.6.39-alpine", To: "memcached:1.6.38-alpine"},
}
