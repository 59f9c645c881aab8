package faults_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

const maxPods = 3

type desiredResource struct {
	subject
	name   string
	exists bool
	// hasChildren is true if the children existed when the operator converged and the resource has not been deleted
	// since.
	hasChildren bool
	pods        int64
	image       string
}

// plan lists a walk's actions. The same random draws produce the same plan, so the result of a plan can be reused.
type plan struct {
	resources []*desiredResource // the desired state after the last action
	converged bool
	actions   []action
}

type action struct {
	description string
	do          func(*walk) error
}

func newPlan() *plan { return &plan{resources: initialResources()} }

// initialResources returns a walk's resources, none of which exist yet. Their names differ, because a WebServer and a
// Memcached with the same name would conflict.
func initialResources() []*desiredResource {
	var resources []*desiredResource
	for _, s := range subjects {
		for i := range 2 {
			resources = append(resources, &desiredResource{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1)})
		}
	}
	return resources
}

func (p *plan) String() string {
	var out strings.Builder
	for _, a := range p.actions {
		fmt.Fprintln(&out, a.description)
	}
	return out.String()
}

func (p *plan) actionsByName() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"await":        p.drawWait,
		"change image": p.drawImageChange,
		"create":       func(t *rapid.T) { p.drawCreate(t, p.pick(t, func(r *desiredResource) bool { return !r.exists })) },
		"delete":       func(t *rapid.T) { p.addDelete(p.pick(t, resourceExists)) },
		"delete child": p.drawChildDeletion,
		"end operator": p.drawOperatorEnd,
		"fault":        p.drawFault,
		"foreign edit": func(t *rapid.T) { p.drawEdit(t, foreignEdits) },
		"recreate":     p.drawRecreate,
		"scale":        p.drawScale,
		"tamper":       func(t *rapid.T) { p.drawEdit(t, tamperingEdits) },
	}
}

func (p *plan) add(do func(*walk) error, says string, args ...any) {
	p.converged = false
	p.actions = append(p.actions, action{fmt.Sprintf(says, args...), do})
}

func resourceExists(r *desiredResource) bool      { return r.exists }
func resourceHasChildren(r *desiredResource) bool { return r.hasChildren }

func (p *plan) pick(t *rapid.T, so func(*desiredResource) bool) *desiredResource {
	var candidates []*desiredResource
	for _, r := range p.resources {
		if so(r) {
			candidates = append(candidates, r)
		}
	}
	if len(candidates) == 0 {
		t.Skip("no resource matches")
	}
	return rapid.SampledFrom(candidates).Draw(t, "resource")
}

func (p *plan) drawWait(t *rapid.T) {
	if p.converged {
		t.Skip("the state has converged")
	}
	p.add((*walk).waitAndCheck, "wait until the state converges")
	p.converged = true
	for _, r := range p.resources {
		r.hasChildren = r.exists
	}
}

func (p *plan) drawCreate(t *rapid.T, r *desiredResource) {
	r.exists = true
	r.pods = rapid.Int64Range(0, maxPods).Draw(t, "Pods")
	r.image = rapid.SampledFrom([]string{r.Images.From, r.Images.To}).Draw(t, "image")
	want := *r
	p.add(func(w *walk) error { return w.create(want) }, "create %s with %d Pods of %s", r.name, r.pods, r.image)
}

func (p *plan) addDelete(r *desiredResource) {
	r.exists, r.hasChildren = false, false
	name := r.name
	p.add(func(w *walk) error { return w.remove(name) }, "delete %s", name)
}

func (p *plan) drawRecreate(t *rapid.T) {
	r := p.pick(t, resourceExists)
	p.addDelete(r)
	p.drawCreate(t, r)
}

func (p *plan) drawScale(t *rapid.T) {
	r := p.pick(t, resourceExists)
	r.pods = (r.pods + rapid.Int64Range(1, maxPods).Draw(t, "more Pods")) % (maxPods + 1)
	want := *r
	p.add(func(w *walk) error { return w.change(want) }, "scale %s to %d", r.name, r.pods)
}

func (p *plan) drawImageChange(t *rapid.T) {
	r := p.pick(t, resourceExists)
	if r.image == r.Images.From {
		r.image = r.Images.To
	} else {
		r.image = r.Images.From
	}
	want := *r
	p.add(func(w *walk) error { return w.change(want) }, "change the image of %s to %s", r.name, r.image)
}

func (p *plan) drawChildDeletion(t *rapid.T) {
	r := p.pick(t, resourceHasChildren)
	kind := rapid.SampledFrom(r.children()).Draw(t, "child")
	name := r.childName(kind)
	p.add(func(w *walk) error { return w.removeChild(kind, name) }, "delete %s %s", kind, name)
}

func (p *plan) drawEdit(t *rapid.T, edits []edit) {
	r := p.pick(t, resourceHasChildren)
	e := rapid.SampledFrom(r.editsOf(edits)).Draw(t, "edit")
	name, patch := r.childName(e.childKind), r.patchOf(e)
	p.add(func(w *walk) error { return w.editChild(e, name, patch) }, "%s of %s %s", e.description, e.childKind, name)
}

func (p *plan) drawOperatorEnd(t *rapid.T) {
	if rapid.Bool().Draw(t, "orderly") {
		p.add(func(w *walk) error { return w.endOperator(w.restart) }, "restart the operator")
	} else {
		p.add(func(w *walk) error { return w.endOperator(w.kill) }, "kill the operator")
	}
}
