package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// The labels of all that this operator makes, Pods included. They never change in an object's
// life, for they are the Deployment's selector, which cannot.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	labelName      = "app.kubernetes.io/name"
	labelInstance  = "app.kubernetes.io/instance"
)

// annotationOwner holds the UID of the resource that a child was made for. It tells a child that
// lost its owner reference from an object that never was ours.
const annotationOwner = "operator-assay.github.io/owner-uid"

// child is an object that a resource wants to exist.
type child struct {
	kind string
	// object is what bears the child's name; just the name when there is none.
	object client.Object
	// unread is why neither the API server nor the cache could tell whether there is one, if so.
	unread error
	// want holds the fields that this operator owns, and no other.
	want any
	// held gives those fields of object that this operator holds: a field that someone else has
	// since set or removed is no longer among them.
	held func() (any, error)
	// rivals gives the edits of object that take away what cannot stand beside want, such as the
	// second handler of a probe; none when there is no such thing.
	rivals func() []edit
}

// asWanted tells whether this operator holds just the fields that it wants, with its values. The
// API server keeps the books: a field's owner is whoever set it last.
func (c *child) asWanted() (bool, error) {
	held, err := c.held()
	if err != nil {
		return false, fmt.Errorf("%s %q: %w", c.kind, c.object.GetName(), err)
	}
	return equality.Semantic.DeepEqual(held, c.want), nil
}

// wanted is what the owner wants of this very object, not of a later one of its name.
func (c *child) wanted() (*unstructured.Unstructured, error) {
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.want)
	object := &unstructured.Unstructured{Object: want}
	object.SetUID(c.object.GetUID())
	return object, err
}

// ours tells whether the object exists and is the owner's child. One that lost its owner reference
// still is, as long as nobody else controls it.
func (c *child) ours(owner client.Object) bool {
	if controller := metav1.GetControllerOf(c.object); controller != nil {
		return controller.UID == owner.GetUID()
	}
	return c.object.GetAnnotations()[annotationOwner] == string(owner.GetUID())
}

// obstacle says why the object, which exists, must not be touched; nil when it may be.
func (c *child) obstacle(owner client.Object, kind schema.GroupVersionKind) *obstacle {
	deleted := !c.object.GetDeletionTimestamp().IsZero()
	switch {
	case c.ours(owner) && !deleted:
		return nil
	case c.ours(owner), c.predecessors(owner, kind.GroupKind()):
		return &obstacle{child: c.kind, reason: workload.ReasonWaitingForDeletion,
			message: fmt.Sprintf("the previous %s %q is still being deleted", c.kind, c.object.GetName()),
			// The watch that tells of its end knows objects by their label.
			watched: c.object.GetLabels()[labelManagedBy] == Name}
	default:
		return &obstacle{child: c.kind, reason: workload.ReasonNotControlled,
			message: fmt.Sprintf("%s %q exists and is not controlled by this %s: delete it, or give this %s another name",
				c.kind, c.object.GetName(), kind.Kind, kind.Kind)}
	}
}

// predecessors tells whether the object belongs to a resource of the owner's name that is no more,
// so that the garbage collector is about to delete it.
func (c *child) predecessors(owner client.Object, kind schema.GroupKind) bool {
	controller := metav1.GetControllerOf(c.object)
	if controller == nil || controller.Kind != kind.Kind || controller.Name != owner.GetName() {
		return false
	}
	version, err := schema.ParseGroupVersion(controller.APIVersion)
	return err == nil && version.Group == kind.Group
}

// obstacle is what keeps a child from being as it should be until somebody or something else acts.
type obstacle struct {
	child           string // its kind
	reason, message string
	// watched tells that a watch will bring the end of it. Otherwise it is tried again.
	watched bool
}

func (o *obstacle) Error() string { return o.reason + ": " + o.message }

// lasting tells that a person may have to act. Other obstacles pass by themselves.
func (o *obstacle) lasting() bool {
	return o.reason != workload.ReasonWaitingForDeletion && o.reason != workload.ReasonRetrying
}

// metadata is what every child's metadata has in common.
func (k kind[R]) metadata(owner R) *metav1ac.ObjectMetaApplyConfiguration {
	return metav1ac.ObjectMeta().
		WithLabels(k.selector(owner)).
		WithAnnotations(map[string]string{annotationOwner: string(owner.GetUID())}).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(k.GroupVersion().String()).
			WithKind(k.Kind).
			WithName(owner.GetName()).
			WithUID(owner.GetUID()).
			WithController(true).
			WithBlockOwnerDeletion(true))
}

// selector is the set of labels that a resource's Pods have.
func (k kind[R]) selector(owner R) map[string]string {
	return map[string]string{labelManagedBy: Name, labelName: k.label(), labelInstance: owner.GetName()}
}
