package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// kinds are what the operator reads, by group and version.
var kinds = map[string][]string{
	"/api/v1":                          {"Pod", "Service"},
	"/apis/apps/v1":                    {"Deployment", "ReplicaSet"},
	"/apis/coordination.k8s.io/v1":     {"Lease"},
	"/apis/my.domain/v1":               {"WebServer"},
	"/apis/cache.example.com/v1alpha1": {"Memcached"},
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/"

// apiServer answers what a manager asks whose cluster is empty: discovery, lists, watches, the Lease, and who somebody is.
type apiServer struct {
	*testing.T
	config *rest.Config
	goAway func() // nobody listens at its address any more

	mu      sync.Mutex
	refused string                           // what a path ends with that nobody may read
	listed  map[string]bool                  // by resource
	leases  map[string]*coordinationv1.Lease // by path
	written []*coordinationv1.Lease
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{T: t, listed: map[string]bool{}, leases: map[string]*coordinationv1.Lease{}}
	server := httptest.NewServer(s)
	s.goAway = func() { server.Listener.Close(); server.CloseClientConnections() }
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.config = &rest.Config{Host: server.URL}
	return s
}

// refuse has the operator be forbidden to read what the end of a path names; empty: nothing.
func (s *apiServer) refuse(suffix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = suffix
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	s.mu.Lock()
	refused := s.refused != "" && strings.HasSuffix(path, s.refused)
	s.mu.Unlock()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the operator is gone
	}
	group, resource := path[:strings.LastIndex(path, "/")], path[strings.LastIndex(path, "/")+1:]
	switch {
	case refused:
		s.answer(w, http.StatusForbidden, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden})
	case path == "/api":
		s.answer(w, http.StatusOK, &metav1.APIVersions{Versions: []string{"v1"}})
	case path == "/apis":
		s.answer(w, http.StatusOK, groups())
	case kinds[path] != nil:
		list := &metav1.APIResourceList{GroupVersion: strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")}
		for _, kind := range kinds[path] {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: strings.ToLower(kind) + "s", Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}})
		}
		s.answer(w, http.StatusOK, list)
	case kinds[group] != nil:
		s.list(w, request, group, resource)
	case strings.HasPrefix(path, leases):
		s.lease(w, request, body)
	case resource == "tokenreviews":
		review := &authenticationv1.TokenReview{}
		s.decode(body, review)
		review.Status.Authenticated = true
		review.Status.User.Username = review.Spec.Token
		s.answer(w, http.StatusCreated, review)
	case resource == "subjectaccessreviews":
		review := &authorizationv1.SubjectAccessReview{}
		s.decode(body, review)
		review.Status.Allowed = review.Spec.User == "scraper" && review.Spec.NonResourceAttributes != nil && review.Spec.NonResourceAttributes.Path == "/metrics"
		s.answer(w, http.StatusCreated, review)
	default:
		s.answer(w, http.StatusNotFound, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
	}
}

func groups() *metav1.APIGroupList {
	list := &metav1.APIGroupList{}
	for path := range kinds {
		if groupVersion, named := strings.CutPrefix(path, "/apis/"); named {
			group, version, _ := strings.Cut(groupVersion, "/")
			versions := []metav1.GroupVersionForDiscovery{{GroupVersion: groupVersion, Version: version}}
			list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: versions, PreferredVersion: versions[0]})
		}
	}
	return list
}

// list tells that there is nothing of a kind, and that nothing comes.
func (s *apiServer) list(w http.ResponseWriter, request *http.Request, group, resource string) {
	s.mu.Lock()
	s.listed[resource] = true
	s.mu.Unlock()
	version := strings.TrimPrefix(strings.TrimPrefix(group, "/apis/"), "/api/")
	for _, kind := range kinds[group] {
		if strings.ToLower(kind)+"s" != resource {
			continue
		}
		if request.URL.Query().Get("watch") == "" {
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"%sList","metadata":{"resourceVersion":"1"},"items":[]}`, version, kind)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}`, version, kind)
		w.(http.Flusher).Flush()
		<-request.Context().Done()
	}
}

func (s *apiServer) lease(w http.ResponseWriter, request *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimSuffix(request.URL.Path, "/")
	if request.Method != http.MethodGet {
		lease := &coordinationv1.Lease{}
		s.decode(body, lease)
		if request.Method == http.MethodPost {
			path += "/" + lease.Name
		}
		lease.ResourceVersion = fmt.Sprint(len(s.written))
		s.leases[path], s.written = lease, append(s.written, lease)
	}
	if lease := s.leases[path]; lease != nil {
		s.answer(w, http.StatusOK, lease)
		return
	}
	s.answer(w, http.StatusNotFound, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
}

// hasListed reports whether the operator has listed all resources that it watches.
func (s *apiServer) hasListed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listed) == 6
}

// holder is who has the only Lease now; nobody, if it is empty.
func (s *apiServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lease := range s.leases {
		return ptr.Deref(lease.Spec.HolderIdentity, "")
	}
	return ""
}

// lastLease is the Lease as it was last written; empty, if none was.
func (s *apiServer) lastLease() coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.written) == 0 {
		return coordinationv1.Lease{}
	}
	return *s.written[len(s.written)-1]
}

// decode reads JSON or protobuf.
func (s *apiServer) decode(body []byte, into runtime.Object) {
	if _, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, into); err != nil {
		s.Error(err)
	}
}

func (s *apiServer) answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // or the operator is gone
}
