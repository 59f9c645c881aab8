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

// driftTarget is a child whose fields the test changes one by one.
type driftTarget struct {
	owner    workloadObject
	original *unstructured.Unstructured
	// fields contains the fields that the operator owns, keyed by their names in the tables.
	fields map[string]ownedField
}

// newDriftTarget creates a resource in a new namespace and waits until the operator owns all fields of its child.
func newDriftTarget(ctx context.Context, owner workloadObject, kind string) *driftTarget {
	GinkgoHelper()
	owner.SetNamespace(newNamespace(ctx))
	serving(ctx, owner, 0)

	d := &driftTarget{owner: owner, original: childOf(owner, kind), fields: map[string]ownedField{}}
	if kind == "Service" {
		// The API server allocated the node port. The operator owns the port only after it has recreated the Service.
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

// tamper patches the child as another manager and expects the given outcome. The API server may reject the change, or
// the change may have no effect. Otherwise the operator restores its fields and reports each of them, or the API server
// rejects the repair.
func (d *driftTarget) tamper(ctx context.Context, what string, expected outcome, operations []operation, says string) {
	GinkgoHelper()
	By(what)
	patch, err := json.Marshal(operations)
	Expect(err).NotTo(HaveOccurred())
	tampered := d.original.DeepCopy()
	err = plane.Client.Patch(ctx, tampered, client.RawPatch(types.JSONPatchType, patch), otherManager)
	if expected == refused {
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s: got %v, want an invalid object", what, err)
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
		waitFor(ctx, current(d.owner), beDegraded(workload.ReasonRejected, "the "+d.original.GetKind()+" cannot be written", says), what)
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

// missingFields returns the fields that differ from the operator's values, as the Event about the repair must name them.
func (d *driftTarget) missingFields(live *unstructured.Unstructured) []string {
	var lost []string
	for _, field := range d.fields {
		if value, _, _ := find(live, field.path); !reflect.DeepEqual(value, field.value) {
			lost = append(lost, field.repairFrom(live))
		}
	}
	return lost
}

// missingFieldsNow returns the missing fields of the current child. It fails if the child was replaced by a new object.
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

// restore removes fields that the change added alongside the operator's fields, such as a container with another name.
// The operator is right to keep such fields; foreign_test.go covers that.
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

// undo restores the child's original spec, so that the API server accepts the operator's fields again.
func (d *driftTarget) undo(ctx context.Context) {
	GinkgoHelper()
	patch, err := json.Marshal([]operation{
		{"replace", "/spec", d.original.Object["spec"]},
		{"replace", "/metadata/annotations", d.original.GetAnnotations()},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(plane.Client.Patch(ctx, d.original.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), otherManager)).To(Succeed())
}
