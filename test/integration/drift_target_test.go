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

	"github.com/operator-assay/assay/operator/controller"
)

// driftTarget is a child that somebody tampers with, field after field.
type driftTarget struct {
	original *unstructured.Unstructured
	// fields are those that the operator owns, by the names that the tables have for them.
	fields map[string]ownedField
}

// newDriftTarget makes a resource in a namespace of its own and waits until the operator owns of its
// child all that it ever will.
func newDriftTarget(ctx context.Context, owner workloadObject, kind string) *driftTarget {
	GinkgoHelper()
	owner.SetNamespace(newNamespace(ctx))
	create(ctx, owner)
	waitFor(ctx, current(owner), beReady(0))

	d := &driftTarget{original: childOf(owner, kind), fields: map[string]ownedField{}}
	if kind == "Service" {
		// The API server chose its node port. The operator's it becomes with the next one.
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

// tamper patches the child as a stranger and expects what the table says to come of it: that the API
// server refuses, that nothing changes, or that the operator has its fields back and says so of each.
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

	waitFor(ctx, d.missingFieldsNow, BeEmpty(), what)
	waitFor(ctx, eventsIn(d.original.GetNamespace()),
		haveEvent("Normal", "Repaired", append(lost, d.original.GetKind()+" "+d.original.GetName(), says)...), what)
	d.restore(ctx)
}

// missingFields says of each of the operator's fields that has not its value what its repair is to say.
func (d *driftTarget) missingFields(live *unstructured.Unstructured) []string {
	var lost []string
	for _, field := range d.fields {
		if value, _, _ := find(live, field.path); !reflect.DeepEqual(value, field.value) {
			lost = append(lost, field.repairFrom(live))
		}
	}
	return lost
}

// missingFieldsNow are those of the child as it is, which must still be the same object.
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

// restore takes away what a tampering left beside the operator's fields, such as a container under
// another name. That it stays is right: foreign_test.go is about that.
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
