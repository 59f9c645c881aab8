package controller

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// fakeServer is a reconciler of one WebServer, and an API server in memory that assigns UIDs, can fail, and judges of
// each write whether it has the preconditions by which a real one refuses what was decided on a stale view.
type fakeServer struct {
	*testing.T
	*reconciler[*webserverv1.WebServer]
	fake     client.WithWatch
	requests []string
	statuses map[int]webserverv1.WebServerStatus // that are sent, by the number of the request
	notes    []string                            // of the Events
	logged   []string

	regarding []runtime.Object // what each Event is about
	related   []client.Object

	writes int
	made   int
	stale  bool // the WebServer is read in a version before the newest

	meanwhile func() // somebody else does, when a child is applied next

	taken int32 // the node port that another Service has

	counts bool // the specs of Deployments that are patched, as a real one does; no controller observes them

	failAt   int    // the number of the request that fails
	failing  string // or one that fails each time
	failure  error
	executed bool // the API server does all the same what it asks
	failed   bool
	retried  bool // by the reconcile in which it failed, as an error or as what is held
}

// settledObjects are a WebServer and its children as desired.
func settledObjects(t *testing.T) []client.Object {
	t.Helper()
	s := newFakeServer(t, storedWebServer())
	s.reconcileUntilIdle()
	return []client.Object{getWebServer(t, s.fake), s.stored(t.Context(), "Deployment", "web"), s.stored(t.Context(), "Service", "web-service")}
}

func newFakeServer(t *testing.T, objects ...client.Object) *fakeServer {
	t.Helper()
	s := &fakeServer{T: t, fake: newFakeClient(t, objects...), statuses: map[int]webserverv1.WebServerStatus{}}
	asked := interceptor.NewClient(s.fake, interceptor.Funcs{
		Get: s.get, List: s.list, Apply: s.apply, Patch: s.patch, Delete: s.delete, SubResourceUpdate: s.updateStatus,
	})
	s.reconciler = newFakeReconciler(asked)
	s.events = s
	s.children = func(k resourceKind[*webserverv1.WebServer], ws *webserverv1.WebServer) children {
		c := webServerChildren(k, ws)
		for _, child := range c.all() {
			prunesOwned(child)
		}
		return c
	}
	return s
}

// prunesOwned has what is owned of a child, and of its fallbacks, be as a real API server tells it.
func prunesOwned(c *child) {
	extract, fallbacks := c.extract, c.fallbacks
	c.extract = func() (any, error) {
		owned, err := extract()
		if err != nil {
			return nil, err
		}
		fields := pruned(fieldsOf(owned))
		delete(fields, "status") // which an apply of a fake client owns
		return fromFields(fields, c.desired), nil
	}
	if fallbacks == nil {
		return
	}
	c.fallbacks = func(ctx context.Context, reader client.Reader, refused error) ([]*child, error) {
		found, err := fallbacks(ctx, reader, refused)
		for _, fallback := range found {
			prunesOwned(fallback)
		}
		return found, err
	}
}

func (s *fakeServer) reconcile() (ctrl.Result, error) {
	ctx := log.IntoContext(s.Context(), funcr.New(func(_, line string) { s.logged = append(s.logged, line) }, funcr.Options{}))
	before := s.failed
	result, err := s.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "web"}})
	if s.failed && !before {
		s.retried = err != nil || result.RequeueAfter == baseDelay || result.RequeueAfter == 2*baseDelay
	}
	return result, err
}

// Eventf keeps an Event's note, and what it is about.
func (s *fakeServer) Eventf(regarding, related runtime.Object, kind, reason, _, note string, arguments ...any) {
	child, _ := related.(client.Object) // if it is related to one
	s.regarding, s.related = append(s.regarding, regarding), append(s.related, child)
	s.notes = append(s.notes, fmt.Sprintf("%s %s %s", kind, reason, fmt.Sprintf(note, arguments...)))
}

// answer does a request, or fails it.
func (s *fakeServer) answer(verb, name string, do func() error) error {
	request := verb + " " + name
	s.requests = append(s.requests, request)
	if len(s.requests) != s.failAt && request != s.failing || s.failure == nil {
		return do()
	}
	s.failed = true
	if s.executed {
		_ = do() // whose answer is lost
	}
	return s.failure
}

func (s *fakeServer) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return s.answer("get", key.Name, func() error {
		err := c.Get(ctx, key, object, options...)
		if _, ws := object.(*webserverv1.WebServer); ws && s.stale {
			object.SetResourceVersion("1")
		}
		return err
	})
}

func (s *fakeServer) list(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	return s.answer("list", fmt.Sprintf("%T", list), func() error { return c.List(ctx, list, options...) })
}

func (s *fakeServer) apply(ctx context.Context, c client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	object := unstructured.Unstructured{Object: fieldsOf(configuration)}
	stored := s.stored(ctx, object.GetKind(), object.GetName())
	chosen := (&client.ApplyOptions{}).ApplyOptions(options)
	forced := chosen.Force != nil && *chosen.Force
	if creation := object.GetUID() == ""; creation && (object.GetResourceVersion() != "1" || forced) || !creation && !forced {
		s.Errorf("version %q and UID %q are asked for, forced: %t", object.GetResourceVersion(), object.GetUID(), forced)
	}
	if chosen.FieldManager != Name {
		s.Errorf("the field manager is %q", chosen.FieldManager)
	}
	return s.answer("apply", object.GetName(), func() error {
		if service, ok := configuration.(*corev1ac.ServiceApplyConfiguration); ok && s.taken != 0 && ptr.Deref(service.Spec.Ports[0].NodePort, 0) == s.taken {
			return refusedField(nodePortPath)
		}
		s.writes++
		if meanwhile := s.meanwhile; meanwhile != nil {
			s.meanwhile = nil
			meanwhile()
		}
		if stored.GetUID() != "" {
			return c.Apply(ctx, configuration, options...)
		}
		object.SetResourceVersion("") // which says that there is none
		if err := c.Apply(ctx, fromFields(object.Object, configuration), options...); err != nil {
			return err
		}
		made := s.stored(ctx, object.GetKind(), object.GetName())
		s.made++
		made.SetUID(types.UID(fmt.Sprint("child-", s.made)))
		if err := c.Update(ctx, made, client.FieldOwner("kube-apiserver")); err != nil {
			return err
		}
		replaceValue(configuration, fromFields(fieldsOf(made), configuration))
		return nil
	})
}

func (s *fakeServer) patch(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	if version := s.stored(ctx, object.GetObjectKind().GroupVersionKind().Kind, object.GetName()).GetResourceVersion(); !strings.Contains(string(data), "resourceVersion") {
		s.Errorf("a patch of whatever version, which is now %s: %s", version, data)
	}
	return s.answer("patch", object.GetName(), func() error {
		if service, ok := object.(*corev1.Service); ok && s.taken != 0 && nodePortOf(service) == s.taken {
			return refusedField(nodePortPath)
		}
		s.writes++
		err := c.Patch(ctx, object, patch, options...)
		deployment, ok := object.(*appsv1.Deployment)
		if err != nil || !ok || !s.counts || patch.Type() != types.MergePatchType || len((&client.PatchOptions{}).ApplyOptions(options).DryRun) > 0 {
			return err
		}
		deployment.Generation++
		return c.Update(ctx, deployment, client.FieldOwner("kube-apiserver"))
	})
}

func (s *fakeServer) delete(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
	of := (&client.DeleteOptions{}).ApplyOptions(options).Preconditions
	if of == nil || of.UID == nil || *of.UID != object.GetUID() || of.ResourceVersion == nil || *of.ResourceVersion != object.GetResourceVersion() {
		s.Errorf("deleted is whatever has the name: %+v", of)
	}
	return s.answer("delete", object.GetName(), func() error {
		s.writes++
		return c.Delete(ctx, object)
	})
}

func (s *fakeServer) updateStatus(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
	s.statuses[len(s.requests)+1] = *object.(*webserverv1.WebServer).Status.DeepCopy()
	return s.answer("update", subresource, func() error {
		s.writes++
		return c.SubResource(subresource).Update(ctx, object, options...)
	})
}

// stored is a child as it is stored; it has no UID if there is none.
func (s *fakeServer) stored(ctx context.Context, kind, name string) client.Object {
	var object client.Object = &corev1.Service{}
	if kind == "Deployment" {
		object = &appsv1.Deployment{}
	}
	_ = s.fake.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, object) // if there is one
	return object
}

// pruned is an apply configuration without the empty structures that Go's types have and the fake server stores.
func pruned(fields map[string]any) map[string]any {
	for key, value := range fields {
		switch value := value.(type) {
		case map[string]any:
			if len(pruned(value)) == 0 {
				delete(fields, key)
			}
		case []any:
			for _, element := range value {
				if element, ok := element.(map[string]any); ok {
					pruned(element)
				}
			}
		case nil:
			delete(fields, key)
		}
	}
	return fields
}

func replaceValue(pointer, by any) { reflect.ValueOf(pointer).Elem().Set(reflect.ValueOf(by).Elem()) }
