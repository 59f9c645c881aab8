package faults

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// mostPods is how many a resource asks for at the most.
const mostPods = 3

// wanted is a resource as its user wants it.
type wanted struct {
	subject
	name   string
	exists bool
	// grown tells that it had its children when all was calm, and was not deleted since.
	grown bool
	pods  int64
	image string
}

// plan is what is to happen in a walk. It is made before anything does, and draws on nothing but its own
// model of what the users want: so the same draws are the same plan, and trying one again needs no walk.
type plan struct {
	resources []*wanted // after the last action
	isCalm    bool
	actions   []action
}

// action is one thing that happens.
type action struct {
	says string
	do   func(*walk) error
}

func newPlan() *plan { return &plan{resources: noResources()} }

// noResources are those of every walk, before the first is created. A WebServer and a Memcached of one name
// would be rivals.
func noResources() []*wanted {
	var resources []*wanted
	for _, s := range subjects {
		for i := range 2 {
			resources = append(resources, &wanted{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1)})
		}
	}
	return resources
}

// String is a line for each action.
func (p *plan) String() string {
	var out strings.Builder
	for _, a := range p.actions {
		fmt.Fprintln(&out, a.says)
	}
	return out.String()
}

// draws are what can come next.
func (p *plan) draws() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"calm":         p.awaitCalm,
		"change image": p.changeImage,
		"create":       func(t *rapid.T) { p.create(t, p.one(t, func(r *wanted) bool { return !r.exists })) },
		"delete":       func(t *rapid.T) { p.remove(p.one(t, existing)) },
		"delete child": p.removeChild,
		"end operator": p.endOperator,
		"fault":        p.dealFault,
		"foreign edit": func(t *rapid.T) { p.editChild(t, foreign) },
		"recreate":     p.recreate,
		"scale":        p.scale,
		"tamper":       func(t *rapid.T) { p.editChild(t, tampering) },
	}
}

func (p *plan) add(do func(*walk) error, says string, args ...any) {
	p.isCalm = false
	p.actions = append(p.actions, action{fmt.Sprintf(says, args...), do})
}

func existing(r *wanted) bool { return r.exists }
func grown(r *wanted) bool    { return r.grown }

// one draws one of the resources that are so.
func (p *plan) one(t *rapid.T, so func(*wanted) bool) *wanted {
	var candidates []*wanted
	for _, r := range p.resources {
		if so(r) {
			candidates = append(candidates, r)
		}
	}
	if len(candidates) == 0 {
		t.Skip("there is no such resource")
	}
	return rapid.SampledFrom(candidates).Draw(t, "resource")
}

func (p *plan) awaitCalm(t *rapid.T) {
	if p.isCalm {
		t.Skip("it is")
	}
	p.add((*walk).awaitCalm, "wait until all is calm")
	p.isCalm = true
	for _, r := range p.resources {
		r.grown = r.exists
	}
}

func (p *plan) create(t *rapid.T, r *wanted) {
	r.exists = true
	r.pods = rapid.Int64Range(0, mostPods).Draw(t, "Pods")
	r.image = rapid.SampledFrom([]string{r.images.First, r.images.Second}).Draw(t, "image")
	want := *r
	p.add(func(w *walk) error { return w.create(want) }, "create %s with %d Pods of %s", r.name, r.pods, r.image)
}

func (p *plan) remove(r *wanted) {
	r.exists, r.grown = false, false
	name := r.name
	p.add(func(w *walk) error { return w.remove(name) }, "delete %s", name)
}

func (p *plan) recreate(t *rapid.T) {
	r := p.one(t, existing)
	p.remove(r)
	p.create(t, r)
}

func (p *plan) scale(t *rapid.T) {
	r := p.one(t, existing)
	r.pods = (r.pods + rapid.Int64Range(1, mostPods).Draw(t, "more Pods")) % (mostPods + 1)
	want := *r
	p.add(func(w *walk) error { return w.change(want) }, "scale %s to %d", r.name, r.pods)
}

func (p *plan) changeImage(t *rapid.T) {
	r := p.one(t, existing)
	if r.image == r.images.First {
		r.image = r.images.Second
	} else {
		r.image = r.images.First
	}
	want := *r
	p.add(func(w *walk) error { return w.change(want) }, "change the image of %s to %s", r.name, r.image)
}

func (p *plan) removeChild(t *rapid.T) {
	r := p.one(t, grown)
	kind := rapid.SampledFrom(r.children()).Draw(t, "child")
	name := r.childName(kind)
	p.add(func(w *walk) error { return w.removeChild(kind, name) }, "delete %s %s", kind, name)
}

func (p *plan) editChild(t *rapid.T, edits []edit) {
	r := p.one(t, grown)
	e := rapid.SampledFrom(r.editsOf(edits)).Draw(t, "edit")
	name, patch := r.childName(e.of), r.patchOf(e)
	p.add(func(w *walk) error { return w.editChild(e, name, patch) }, "%s of %s %s", e.says, e.of, name)
}

func (p *plan) endOperator(t *rapid.T) {
	if rapid.Bool().Draw(t, "orderly") {
		p.add(func(w *walk) error { return w.endOperator(w.restart) }, "restart the operator")
	} else {
		p.add(func(w *walk) error { return w.endOperator(w.kill) }, "kill the operator")
	}
}
