package faults_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/operator-assay/assay/harness/fault"
)

// drawFault adds an action that injects a fault into the next matching request, or pauses a watch.
func (p *plan) drawFault(t *rapid.T) {
	r := p.pick(t, resourceExists)
	next := fault.Fault{Type: rapid.SampledFrom(fault.Types()).Draw(t, "fault")}
	if next.OfWatch() {
		next.At = drawRequest(t, r.watches())
	} else {
		at := next.Type.Points(&fault.Reference{
			Writes: r.writes(), Reads: r.reads(), Actions: 1, HasSubject: true,
			Choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "point") },
		})
		if next.At = drawRequest(t, at); next.At.Verb == "" { // the fault applies to all requests
			next.At = fault.RequestKey{}
		}
	}
	p.add(func(w *walk) error { return w.setFault(next) }, "inject %s", next)
}

func TestFaultsMatchOperatorRequests(t *testing.T) {
	g := NewWithT(t)
	namespace, err := plane.CreateNamespace(t.Context(), "walk")
	g.Expect(err).NotTo(HaveOccurred())
	w, p := newWalk(t.Context(), namespace, newWalkHistory(t), stepTimeout), newPlan()
	for _, r := range p.resources {
		r.exists, r.pods, r.image = true, 1, "example.com/image:1"
		p.add(func(w *walk) error { return w.create(*r) }, "create %s", r.name)
	}
	p.add((*walk).waitAndCheck, "wait")
	for _, r := range p.resources {
		for _, kind := range r.children() {
			p.add(func(w *walk) error { return w.removeChild(kind, r.childName(kind)) }, "delete the %s of %s", kind, r.name)
		}
	}
	p.add((*walk).waitAndCheck, "wait")
	for _, r := range p.resources {
		for _, e := range r.editsOf(tamperingEdits) {
			if e.description == "remove a label" { // without this label, the child is missing from the cache
				p.add(func(w *walk) error { return w.editChild(e, r.childName(e.childKind), r.patchOf(e)) }, "%s of %s", e.description, r.name)
			}
		}
	}
	p.add((*walk).waitAndCheck, "wait")
	g.Expect(w.run(p)).To(Succeed())
	sent := w.injector.RequestCounts()
	for _, r := range p.resources {
		for _, key := range slices.Concat(r.writes(), r.reads(), r.watches()) {
			key.Nth = 0
			g.Expect(sent).To(HaveKey(key))
		}
	}
}

func drawRequest(t *rapid.T, keys []fault.RequestKey) fault.RequestKey {
	key := rapid.SampledFrom(keys).Draw(t, "request")
	key.Nth = 1
	return key
}

// childTargets maps the kind of each child to its resource, in the format of record.Request.Target.
var childTargets = map[string]string{"Deployment": "deployments.apps", "Service": "services"}

func (s subject) target() string { return s.Plural() + "." + s.Group }

func (r *desiredResource) writes() []fault.RequestKey {
	keys := []fault.RequestKey{{Verb: "update", Target: r.target() + "/status", Name: r.name}}
	for _, kind := range r.children() {
		keys = append(keys, fault.RequestKey{Verb: "apply", Target: childTargets[kind], Name: r.childName(kind)})
	}
	return keys
}

// reads returns the keys of the operator's live reads for a resource: it reads children that are missing from its
// cache.
func (r *desiredResource) reads() []fault.RequestKey {
	var keys []fault.RequestKey
	for _, kind := range r.children() {
		keys = append(keys, fault.RequestKey{Verb: "get", Target: childTargets[kind], Name: r.childName(kind)})
	}
	return keys
}

func (r *desiredResource) watches() []fault.RequestKey {
	keys := []fault.RequestKey{{Verb: "watch", Target: r.target(), Name: "-"}}
	for _, kind := range r.children() {
		keys = append(keys, fault.RequestKey{Verb: "watch", Target: childTargets[kind], Name: "-"})
	}
	return append(keys, fault.RequestKey{Verb: "watch", Target: "replicasets.apps", Name: "-"}, fault.RequestKey{Verb: "watch", Target: "pods", Name: "-"})
}
