package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/operator/controller"
)

// driftTarget is a child whose fields are changed one after another.
type driftTarget struct {
	owner    workloadObject
	original *unstructured.Unstructured
	// fields are those that the operator owns, by their names in the tables.
	fields map[string]ownedField
}

// newDriftTarget creates a resource in a namespace of its own and waits until the operator owns all of its child's
// fields.
func newDriftTarget(ctx context.Context, owner workloadObject, kind string) *driftTarget {
	GinkgoHelper()
	owner.SetNamespace(newNamespace(ctx))
	serving(ctx, owner, 0)

	d := &driftTarget{owner: owner, original: childOf(owner, kind), fields: map[string]ownedField{}}
	if kind == "Service" {
		// The API server chose its node port. The operator owns the port of the next Service.
		Expect(plane.Client.Delete(ctx, newService(owner))).To(Succeed())
	}
	waitFor(ctx, exists(d.original), BeTrue())
	owned, err := ownedFields(d.original, controller.Name, metav1.ManagedFieldsOperationApply)
	Expect(err).NotTo(HaveOccurred())
	for path, field := range owned {
		d.fields[strings.ReplaceAll(path, string(owner.GetUID()), "UID")] = field
	}
	return d
}

func (d *driftTarget) change(ctx context.Context, path string, t driftCase) {
	GinkgoHelper()
	patch := t.patch
	if patch == nil {
		patch = []operation{{"replace", d.fields[path].pointer(), t.value}}
	}
	d.tamper(ctx, "Changing "+path, t.changed, patch, t.says)
}

func (d *driftTarget) remove(ctx context.Context, path string, t driftCase) {
	GinkgoHelper()
	d.tamper(ctx, "Removing "+path, t.removed, []operation{{"remove", d.fields[path].pointer(), nil}}, "")
}

// tamper patches the child as another manager and expects the outcome of the table: the API server refuses it, nothing
// changes, the operator restores its fields and reports each, or the API server rejects that.
func (d *driftTarget) tamper(ctx context.Context, what string, expected outcome, operations []operation, says string) {
	GinkgoHelper()
	By(what)
	patch, err := json.Marshal(operations)
	Expect(err).NotTo(HaveOccurred())
	tampered := d.original.DeepCopy()
	err = plane.Client.Patch(ctx, tampered, client.RawPatch(types.JSONPatchType, patch), otherManager)
	if expected == refused {
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s must be refused as invalid, but: %v", what, err)
		return
	}
	Expect(err).NotTo(HaveOccurred(), what)
	lost := d.missingFields(tampered)
	if expected == harmless {
		Expect(lost).To(BeEmpty(), what)
		return
	}
	Expect(lost).NotTo(BeEmpty(), what)
	if expected == rejected {
		waitFor(ctx, current(d.owner), beDegraded(workload.ReasonRejected, "the API server refuses the "+d.original.GetKind(), says), what)
		d.undo(ctx)
		waitFor(ctx, current(d.owner), beReady(0), what)
		waitFor(ctx, d.missingFieldsNow, BeEmpty(), what)
		return
	}

	waitFor(ctx, d.missingFieldsNow, BeEmpty(), what)
	waitFor(ctx, eventsIn(d.original.GetNamespace()),
		haveEvent("Normal", "Repaired", append(lost, d.original.GetKind()+" "+d.original.GetName(), says)...), what)
	d.restore(ctx)
}

// missingFields returns, for each of the operator's fields without its value, what the repair's Event must contain.
func (d *driftTarget) missingFields(live *unstructured.Unstructured) []string {
	var lost []string
	for _, field := range d.fields {
		if value, _, _ := find(live, field.path); !reflect.DeepEqual(value, field.value) {
			lost = append(lost, field.repairFrom(live))
		}
	}
	return lost
}

// missingFieldsNow are those of the current child, which must still be the same object.
func (d *driftTarget) missingFieldsNow(ctx context.Context) ([]string, error) {
	live := d.original.DeepCopy()
	if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return nil, err
	}
	if live.GetUID() != d.original.GetUID() {
		return nil, StopTrying(fmt.Sprintf("another %s has taken its place", live.GetKind()))
	}
	return d.missingFields(live), nil
}

// restore removes what a change has left beside the operator's fields, such as a container under another name. That
// it stays is right: foreign_test.go tests that.
func (d *driftTarget) restore(ctx context.Context) {
	GinkgoHelper()
	var operations []operation
	for _, field := range []string{"template", "ports"} {
		if value, found, _ := unstructured.NestedFieldNoCopy(d.original.Object, "spec", field); found {
			operations = append(operations, operation{"replace", "/spec/" + field, value})
		}
	}
	patch, err := json.Marshal(operations)
	Expect(err).NotTo(HaveOccurred())
	Expect(plane.Client.Patch(ctx, d.original.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), otherManager)).To(Succeed())
}

// undo restores the child, so that the API server accepts the operator's fields again.
func (d *driftTarget) undo(ctx context.Context) {
	GinkgoHelper()
	patch, err := json.Marshal([]operation{
		{"replace", "/spec", d.original.Object["spec"]},
		{"replace", "/metadata/annotations", d.original.GetAnnotations()},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(plane.Client.Patch(ctx, d.original.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), otherManager)).To(Succeed())
}
