package faults

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/operator-assay/assay/test/harness/faults"
)

// What can befall a write, any request, a watch, and everything.
var (
	ofWrites   = []faults.Kind{faults.CrashBefore, faults.CrashAfter, faults.LostAnswer, faults.LateWrite, faults.Refuse409, faults.Storm409}
	ofRequests = []faults.Kind{faults.Refuse429, faults.Refuse500, faults.Refuse503, faults.Timeout, faults.Reset, faults.Storm503, faults.StormReset}
	ofWatches  = []faults.Kind{faults.Stale, faults.StaleRestart, faults.Missed}
	ofAll      = []faults.Kind{faults.SlowReads, faults.SlowWrites}
)

// dealFault has a fault befall the next request of a kind for a resource, or hold the events of a kind back
// from now on. It takes the place of the one before.
func (p *plan) dealFault(t *rapid.T) {
	r := p.one(t, existing)
	fault := faults.Fault{Kind: rapid.SampledFrom(slices.Concat(ofWrites, ofRequests, ofWatches, ofAll)).Draw(t, "fault")}
	switch {
	case slices.Contains(ofWrites, fault.Kind):
		fault.At = drawPoint(t, r.writes())
	case slices.Contains(ofRequests, fault.Kind):
		fault.At = drawPoint(t, append(r.writes(), r.reads()...))
	case slices.Contains(ofWatches, fault.Kind):
		fault.At = drawPoint(t, r.watches())
	}
	p.add(func(w *walk) error { return w.deal(fault) }, "from now on: %s", fault)
}

func drawPoint(t *rapid.T, points []faults.Point) faults.Point {
	point := rapid.SampledFrom(points).Draw(t, "request")
	point.Nth = 1
	return point
}

// childTargets are the children's resources, as requests name them.
var childTargets = map[string]string{"Deployment": "deployments.apps", "Service": "services"}

// target is the resource of a kind, as requests name it.
func (s subject) target() string { return s.container() + "s." + s.Group }

// writes are those by which the operator works for a resource.
func (r *wanted) writes() []faults.Point {
	points := []faults.Point{{Verb: "apply", Target: r.target() + "/status", Name: r.name}}
	for _, kind := range r.children() {
		points = append(points, faults.Point{Verb: "apply", Target: childTargets[kind], Name: r.childName(kind)})
	}
	return points
}

// reads are what it asks the API server of a resource, rather than its cache.
func (r *wanted) reads() []faults.Point {
	points := []faults.Point{{Verb: "get", Target: r.target(), Name: r.name}}
	for _, kind := range r.children() {
		points = append(points, faults.Point{Verb: "get", Target: childTargets[kind], Name: r.childName(kind)})
	}
	return points
}

// watches are those that tell it of a resource and what is below it.
func (r *wanted) watches() []faults.Point {
	points := []faults.Point{{Verb: "watch", Target: r.target(), Name: "-"}}
	for _, kind := range r.children() {
		points = append(points, faults.Point{Verb: "watch", Target: childTargets[kind], Name: "-"})
	}
	return append(points, faults.Point{Verb: "watch", Target: "replicasets.apps", Name: "-"}, faults.Point{Verb: "watch", Target: "pods", Name: "-"})
}
