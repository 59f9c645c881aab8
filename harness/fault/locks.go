package fault

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// answerLock responds to a request for a lock of this instance. It returns nil for all other requests.
func (t *roundTripper) answerLock(request *http.Request, about *record.Request) (*http.Response, error) {
	body, err := bufferBody(request)
	if err != nil {
		return nil, err
	}
	held, isLock, refused := t.locks.handle(about, body)
	switch {
	case !isLock:
		return nil, nil
	case t.end.isSent():
		return nil, errDisconnected
	case refused != nil:
		return respond(request, int(refused.ErrStatus.Code), statusOf(refused)), nil
	}
	t.injector.Journal.forget(about.Target(), held.GetName()) // requests sent before the lock existed were counted
	if about.Verb == "create" {
		return respond(request, http.StatusCreated, held), nil
	}
	return respond(request, http.StatusOK, held), nil
}

// couldBeLock reports whether a request is for a single object of a kind that is used for leader election. Lists and
// watches are excluded, because leader election does not use them.
func couldBeLock(about *record.Request) bool {
	_, isLockKind := lockKinds[about.Target()]
	return isLockKind && about.Verb != "list" && about.Verb != "watch" && about.Verb != "deletecollection"
}

// lockKinds maps the resources that are used for leader election to their kinds.
var lockKinds = map[string]schema.GroupVersionKind{
	"leases.coordination.k8s.io": coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	"configmaps":                 corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	"endpoints":                  corev1.SchemeGroupVersion.WithKind("Endpoints"),
}

// isLock reports whether an object other than a Lease is a leader election lock. It accepts objects with client-go's
// leader annotation, which was used before Leases, and empty ConfigMaps that are owned by a Pod, as created by
// operator-lib's "leader for life" election.
func isLock(object client.Object) bool {
	if _, annotated := object.GetAnnotations()[resourcelock.LeaderElectionRecordAnnotationKey]; annotated {
		return true
	}
	configMap, is := object.(*corev1.ConfigMap)
	if !is || len(configMap.Data)+len(configMap.BinaryData) > 0 {
		return false
	}
	owners := configMap.OwnerReferences
	return len(owners) == 1 && owners[0].APIVersion == "v1" && owners[0].Kind == "Pod"
}

// locks stores the leader election locks of one instance.
type locks struct {
	mu      sync.Mutex
	stored  map[string]client.Object // by resource, namespace and name
	version int
}

func (l *locks) handle(about *record.Request, body []byte) (_ client.Object, is bool, refused *apierrors.StatusError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var next client.Object
	var err error
	name := about.Name
	if about.Verb == "create" || about.Verb == "update" {
		if next, err = decode(body, lockKinds[about.Target()]); err == nil {
			name = next.GetName()
		}
	}
	key := about.Target() + "/" + about.Namespace + "/" + name
	was := l.stored[key]
	switch {
	case !about.IsLease() && was == nil && (next == nil || !isLock(next)):
		return nil, false, nil
	case about.IsLease() && was == nil && about.Verb != "create" && about.Verb != "apply":
		return nil, true, apierrors.NewNotFound(schema.GroupResource{Group: about.Group, Resource: about.Resource}, name)
	case about.Verb == "patch" || about.Verb == "apply":
		next, err = merge(was, body, lockKinds[about.Target()])
	case about.Verb == "delete":
		delete(l.stored, key)
	}
	if err != nil {
		return nil, true, apierrors.NewBadRequest(err.Error())
	}
	if next == nil {
		return was, true, nil
	}
	l.version++
	next.SetName(name)
	next.SetNamespace(about.Namespace)
	next.SetResourceVersion(strconv.Itoa(l.version))
	if next.GetUID() == "" {
		next.SetUID(uuid.NewUUID())
	}
	l.stored[key] = next
	return next, true, nil
}

// decode decodes an object. It adds a missing apiVersion or kind, as the API server does.
func decode(body []byte, missing schema.GroupVersionKind) (client.Object, error) {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, &missing, nil)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	decoded, is := object.(client.Object)
	if !is {
		return nil, fmt.Errorf("got a %s, want an object", kind.Kind)
	}
	return decoded, nil
}

// merge applies a patch to a lock as a JSON merge patch. Strategic merge patches and apply configurations have the same
// effect on a lock, because they only set scalar fields.
func merge(was client.Object, patch []byte, kind schema.GroupVersionKind) (client.Object, error) {
	before := []byte("{}")
	if was != nil {
		var err error
		if before, err = json.Marshal(was); err != nil {
			return nil, err
		}
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, err
	}
	return decode(after, kind)
}
