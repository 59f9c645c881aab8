package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The labels of everything that this operator makes, Pods included. They never change in an object's
// life, for they are the Deployment's selector, which is immutable.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	labelName      = "app.kubernetes.io/name"
	labelInstance  = "app.kubernetes.io/instance"
)

const (
	// annotationOwner holds the UID of the resource that a child was made for. It tells a child that lost its
	// owner reference from an object that never was this operator's.
	annotationOwner = "operator-assay.github.io/owner-uid"
	// annotationHash holds a hash of the spec that was applied. It tells an update, which asks for another spec
	// than before, from a repair.
	annotationHash = "operator-assay.github.io/applied-hash"
)

// children are the objects that a resource wants to exist.
type children struct {
	deployment *child
	service    *child // nil for a kind that has none
}

func (c children) all() []*child {
	return slices.DeleteFunc([]*child{c.deployment, c.service}, func(c *child) bool { return c == nil })
}

// upToDate reports whether every child is as the owner asks.
func (c children) upToDate(owner client.Object) bool {
	return !slices.ContainsFunc(c.all(), func(child *child) bool { return !child.isControlledBy(owner) || !child.upToDate() })
}

// unread is why it is not known of one of the children whether it exists.
func (c children) unread() error {
	for _, child := range c.all() {
		if child.unread != nil {
			return child.unread
		}
	}
	return nil
}

// fingerprint identifies all that upToDate depends on.
func (c children) fingerprint() uint64 {
	hash := fnv.New64a()
	for _, child := range c.all() {
		object := child.object
		writeJSON(hash, child.desired, child.spec, object.GetUID(), object.GetDeletionTimestamp(), object.GetLabels(),
			object.GetAnnotations(), object.GetOwnerReferences(), object.GetManagedFields())
	}
	return hash.Sum64()
}

// child is an object that a resource wants to exist.
type child struct {
	kind string
	// object is the one that has the child's name; it has just the name when there is none.
	object client.Object
	// spec points to the object's.
	spec any
	// unread is why it is not known whether there is one.
	unread error
	// hidden reports that the cache does not show the object, which was read from the API server.
	hidden bool
	// desired is an apply configuration of the fields that this operator owns, and no other.
	desired runtime.ApplyConfiguration
	// hash identifies the desired fields. The object bears the hash of those that were applied last.
	hash string
	// renumbered reports that the owner asks for another node port than before, of which the hash does not tell.
	renumbered bool
	// extract gives those fields of object that this operator owns: a field that somebody else has set or
	// removed since is no longer one of them.
	extract func() (any, error)
	// fallbacks are what is applied while the API server refuses the child for an error: the first of them that is accepted.
	// nil: nothing less would serve.
	fallbacks func(context.Context, client.Reader, error) ([]*child, error)
	// serves says, of a fallback, where it does.
	serves string
}

func (c *child) exists() bool { return c.object.GetUID() != "" }

// unrepairable reports that no update can make the object as desired: a headless Service never gets a cluster IP.
func (c *child) unrepairable() bool {
	service, ok := c.object.(*corev1.Service)
	return ok && service.Spec.ClusterIP == corev1.ClusterIPNone
}

// upToDate reports whether this operator owns the desired fields and no other, with the desired values. The
// API server keeps the books: the owner of a field is who set it last.
func (c *child) upToDate() bool {
	owned, err := c.extract()
	return err == nil && c.object.GetDeletionTimestamp().IsZero() &&
		equality.Semantic.DeepEqual(owned, c.desired) && !hasUpdateManagedFields(c.object)
}

// isRepair reports whether the child is to be written only because somebody else changed it: this operator has applied
// what it desires.
func (c *child) isRepair() bool {
	owned, err := c.owned()
	applied, found, _ := unstructured.NestedString(owned, "metadata", "annotations", annotationHash)
	return err == nil && (!found || applied == c.hash && !c.renumbered)
}

// owned are the fields of the object that this operator owns.
func (c *child) owned() (map[string]any, error) {
	owned, err := c.extract()
	if err != nil {
		return nil, err
	}
	return fieldsOf(owned), nil
}

// hasUpdateManagedFields reports whether the API server counts fields of the object as updated by this operator
// beside those that it applied. An apply can give up only the latter.
func hasUpdateManagedFields(object client.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == Name && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	})
}

// versionOfNothing is a resource version that no object has. An apply that names it makes an object, and is a conflict
// if there is one: without it, an object that is like the desired one would be adopted, whoever made it.
const versionOfNothing = "1"

// applyConfiguration is what the owner desires of the very object that was read, or of none: the API server refuses it
// for another of the same name. An update is right for every version of that object, which a rollout changes many times.
// A repair is for the version that was read, so that what is recorded of it is all that it changed.
func (c *child) applyConfiguration(reason string) runtime.ApplyConfiguration {
	object := unstructured.Unstructured{Object: fieldsOf(c.desired)}
	object.SetUID(c.object.GetUID())
	switch reason {
	case reasonCreated:
		object.SetResourceVersion(versionOfNothing)
	case reasonRepaired:
		object.SetResourceVersion(c.object.GetResourceVersion())
	}
	return fromFields(object.Object, c.desired)
}

// isControlledBy reports whether the object is the owner's child. One that lost its owner reference still is, as
// long as nobody else controls it.
func (c *child) isControlledBy(owner client.Object) bool {
	if controller := metav1.GetControllerOf(c.object); controller != nil {
		return controller.UID == owner.GetUID()
	}
	return c.object.GetAnnotations()[annotationOwner] == string(owner.GetUID())
}

// isOwnedByPredecessor reports whether the object belongs to a resource of the owner's name that is gone, so that
// the garbage collector is about to delete it.
func (c *child) isOwnedByPredecessor(owner client.Object, kind schema.GroupKind) bool {
	controller := metav1.GetControllerOf(c.object)
	if controller == nil || controller.Kind != kind.Kind || controller.Name != owner.GetName() {
		return false
	}
	version, _ := schema.ParseGroupVersion(controller.APIVersion) // what is none has no group
	return version.Group == kind.Group
}

// metadata is what the metadata of all children has in common.
func (k resourceKind[R]) metadata(owner R, name string) *metav1ac.ObjectMetaApplyConfiguration {
	return metav1ac.ObjectMeta().
		WithName(name).
		WithNamespace(owner.GetNamespace()).
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

// selector is the set of labels of a resource's Pods.
func (k resourceKind[R]) selector(owner R) map[string]string {
	return map[string]string{labelManagedBy: Name, labelName: k.label(), labelInstance: owner.GetName()}
}

// hashOf identifies the fields of an apply configuration.
func hashOf(desired any) string {
	hash := fnv.New32a()
	writeJSON(hash, desired)
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

// writeJSON writes values that are always JSON: parts of objects and of apply configurations.
func writeJSON(to io.Writer, values ...any) {
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			panic(fmt.Sprintf("a part of an object is always JSON: %v", err))
		}
		_, _ = to.Write(text) // a hash takes all
	}
}
