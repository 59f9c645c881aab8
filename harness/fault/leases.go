package fault

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operator-assay/assay/harness/record"
)

// leaseTransport handles requests for an instance's Leases and forwards all other requests. It also forwards lists and
// watches, because leader election does not use them.
type leaseTransport struct {
	*Instance
	others http.RoundTripper
}

// WrappedRoundTripper is used by client-go.
func (t *leaseTransport) WrappedRoundTripper() http.RoundTripper { return t.others }

func (t *leaseTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	about := record.Classify(request)
	if !about.IsLease() || about.Verb == "list" || about.Verb == "watch" || about.Verb == "deletecollection" {
		return t.others.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	body, err := bufferBody(request)
	switch {
	case err != nil:
		return nil, err
	case t.end.isSent():
		return nil, errDisconnected
	}
	lease, refused := t.leases.handle(about, body)
	switch {
	case refused != nil:
		return jsonResponse(request, int(refused.ErrStatus.Code), statusOf(refused)), nil
	case about.Verb == "create":
		return jsonResponse(request, http.StatusCreated, lease), nil
	}
	return jsonResponse(request, http.StatusOK, lease), nil
}

// leases contains the Leases of an instance. It is initially empty, so the instance becomes the leader immediately.
type leases struct {
	mu      sync.Mutex
	stored  map[string]*coordinationv1.Lease // by namespace and name
	version int
}

func (l *leases) handle(about *record.Request, body []byte) (*coordinationv1.Lease, *apierrors.StatusError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := func(name string) string { return about.Namespace + "/" + name }
	was := l.stored[key(about.Name)]
	if was == nil && about.Verb != "create" && about.Verb != "apply" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: about.Group, Resource: about.Resource}, about.Name)
	}
	var lease *coordinationv1.Lease
	var err error
	switch about.Verb {
	case "create", "update":
		lease, err = decode(body)
	case "patch", "apply":
		lease, err = merge(was, body)
	case "delete":
		delete(l.stored, key(about.Name))
		return was, nil
	default:
		return was, nil
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	l.version++
	lease.Namespace, lease.Name = about.Namespace, cmp.Or(about.Name, lease.Name)
	lease.ResourceVersion = strconv.Itoa(l.version)
	lease.UID = cmp.Or(lease.UID, uuid.NewUUID())
	l.stored[key(lease.Name)] = lease
	return lease, nil
}

func decode(body []byte) (*coordinationv1.Lease, error) {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	lease, is := object.(*coordinationv1.Lease)
	if !is {
		return nil, fmt.Errorf("got a %s, want a Lease", kind.Kind)
	}
	lease.SetGroupVersionKind(*kind)
	return lease, nil
}

// merge applies a patch as a JSON merge patch. This is also correct for the other patch types, because the fields that
// change are scalars.
func merge(was *coordinationv1.Lease, patch []byte) (*coordinationv1.Lease, error) {
	before := []byte("{}")
	if was != nil {
		before = encode(was)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, err
	}
	return decode(after)
}
