package faultinject

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operator-assay/assay/test/harness/record"
)

// leaseServer serves the Leases of one instance by itself, and passes other requests on. Lists and watches of Leases, which
// no election needs, are among the others.
type leaseServer struct {
	others http.Handler

	mu      sync.Mutex
	held    map[string]*coordinationv1.Lease // by namespace and name
	version int
}

var leaseResource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *leaseServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	about := record.Classify(request)
	if !about.IsLease() || about.Verb == "list" || about.Verb == "watch" || about.Verb == "deletecollection" {
		l.others.ServeHTTP(w, request)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the client has gone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lease, err := l.answer(about, body)
	code := http.StatusOK
	var answer any = lease
	if err != nil {
		status := apierrors.NewInternalError(err).Status()
		if known, ok := err.(apierrors.APIStatus); ok {
			status = known.Status()
		}
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		code, answer = int(status.Code), status
	} else if about.Verb == "create" {
		code = http.StatusCreated
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // the client may have gone
}

// answer does what a request asks. The caller holds the lock.
func (l *leaseServer) answer(about *record.Request, body []byte) (*coordinationv1.Lease, error) {
	name := about.Name
	sent := &coordinationv1.Lease{}
	if about.Verb == "create" || about.Verb == "update" {
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, sent); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		name = sent.Name
	}
	key := about.Namespace + "/" + name
	was := l.held[key]
	switch {
	case about.Verb == "create" && was != nil:
		return nil, apierrors.NewAlreadyExists(leaseResource, name)
	case about.Verb == "create":
		sent.CreationTimestamp = metav1.Now()
		return l.keep(about, key, sent), nil
	case was == nil && about.Verb != "apply":
		return nil, apierrors.NewNotFound(leaseResource, name)
	case about.Verb == "get":
		return was, nil
	case about.Verb == "delete":
		delete(l.held, key)
		return was, nil
	case about.Verb == "update" && sent.ResourceVersion != "" && sent.ResourceVersion != was.ResourceVersion:
		return nil, apierrors.NewConflict(leaseResource, name, fmt.Errorf("it has changed"))
	case about.Verb == "update":
		sent.UID, sent.CreationTimestamp = was.UID, was.CreationTimestamp
		return l.keep(about, key, sent), nil
	default:
		patched, err := merge(was, body)
		if err != nil {
			return nil, err
		}
		patched.Name = name
		return l.keep(about, key, patched), nil
	}
}

// keep stores a Lease as its next version.
func (l *leaseServer) keep(about *record.Request, key string, lease *coordinationv1.Lease) *coordinationv1.Lease {
	l.version++
	lease.TypeMeta = metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"}
	lease.Namespace, lease.ResourceVersion = about.Namespace, strconv.Itoa(l.version)
	if lease.UID == "" {
		lease.UID = uuid.NewUUID()
	}
	l.held[key] = lease
	return lease
}

// merge applies a patch in JSON, of whatever type: the fields of a Lease are single values, so all types mean the same.
func merge(was *coordinationv1.Lease, patch []byte) (*coordinationv1.Lease, error) {
	if was == nil {
		was = &coordinationv1.Lease{}
	}
	before, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	lease := &coordinationv1.Lease{}
	return lease, json.Unmarshal(after, lease)
}
