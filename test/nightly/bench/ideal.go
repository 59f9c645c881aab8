package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/controller"
)

// The ServiceAccount and the user name of the ideal client.
const (
	idealAccount = "ideal-client"
	idealUser    = "system:serviceaccount:" + operatorNamespace + ":" + idealAccount
)

// template contains what the operator has applied for one resource.
type template struct {
	key      types.NamespacedName
	owner    types.UID
	children []child
	status   map[string]any
}

// child is a child of the resource.
type child struct {
	empty   func(types.NamespacedName) client.Object // returns an empty object for the child of a resource
	applied string                                   // the apply configuration as JSON
}

// readTemplate reads what the operator has applied for a resource with the right status.
func readTemplate(ctx context.Context, user client.Client, k kind, key types.NamespacedName) (*template, error) {
	owner := k.empty(key)
	if err := user.Get(ctx, key, owner); err != nil {
		return nil, err
	}
	b := &template{key: key, owner: owner.GetUID()}
	b.status, _, _ = unstructured.NestedMap(owner.Object, "status")

	deployment := &appsv1.Deployment{}
	if err := user.Get(ctx, key, deployment); err != nil {
		return nil, err
	}
	applied, err := appsv1ac.ExtractDeployment(deployment, controller.Name)
	if err != nil {
		return nil, err
	}
	if err := b.add(applied, func(key types.NamespacedName) client.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	}); err != nil || !k.service {
		return b, err
	}

	service := &corev1.Service{}
	if err := user.Get(ctx, serviceKey(key), service); err != nil {
		return nil, err
	}
	exposed, err := corev1ac.ExtractService(service, controller.Name)
	if err != nil {
		return nil, err
	}
	for i := range exposed.Spec.Ports {
		exposed.Spec.Ports[i].NodePort = nil // the API server allocates it
	}
	return b, b.add(exposed, func(key types.NamespacedName) client.Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: serviceKey(key).Name}}
	})
}

func (b *template) add(applied any, empty func(types.NamespacedName) client.Object) error {
	text, err := json.Marshal(applied)
	if err == nil && !strings.Contains(string(text), `"spec"`) {
		err = fmt.Errorf("the ideal client cannot copy an object that the operator has not applied: %s", text)
	}
	b.children = append(b.children, child{empty: empty, applied: string(text)})
	return err
}

// render replaces the template's resource with another resource in an apply configuration.
func (b *template) render(text string, owner *unstructured.Unstructured) []byte {
	return []byte(strings.NewReplacer(
		fmt.Sprintf("%q:%q", "namespace", b.key.Namespace), fmt.Sprintf("%q:%q", "namespace", owner.GetNamespace()),
		b.key.Name, owner.GetName(),
		string(b.owner), string(owner.GetUID()),
	).Replace(text))
}

// ideal replaces the operator and only sends the necessary requests. The bench calls it for every created or changed
// resource. It writes a status when the observer reports that the Pods of a resource are ready.
type ideal struct {
	env      *env
	client   client.Client
	template *template
	ready    workqueue.TypedInterface[types.NamespacedName] // resources whose status must be written
}

// startIdealClient starts the ideal client. It runs until ctx ends.
func (e *env) startIdealClient(ctx context.Context, t *template) error {
	if err := e.createAdministrator(ctx, idealAccount); err != nil {
		return err
	}
	config, err := e.identity(ctx, idealAccount)
	if err != nil {
		return err
	}
	i := &ideal{env: e, template: t, ready: workqueue.NewTyped[types.NamespacedName]()}
	if i.client, err = client.New(ownConnections(config), client.Options{Scheme: e.user.Scheme(), Mapper: e.user.RESTMapper()}); err != nil {
		return err
	}
	e.ideal = i
	e.observer.notifyReady(i.ready.Add)
	context.AfterFunc(ctx, i.ready.ShutDown)
	for range connections {
		go i.writeStatuses(ctx)
	}
	return nil
}

// create applies the children of a new resource and records an Event for each child.
func (i *ideal) create(ctx context.Context, owner *unstructured.Unstructured) error {
	for n := range i.template.children {
		if err := i.applyChild(ctx, owner, n); err != nil {
			return err
		}
		if err := i.recordCreation(ctx, owner); err != nil {
			return err
		}
	}
	return nil
}

func (i *ideal) recordCreation(ctx context.Context, owner *unstructured.Unstructured) error {
	now := time.Now()
	return i.client.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: fmt.Sprintf("%s.%x", owner.GetName(), now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: idealAccount,
		ReportingInstance:   idealAccount,
		Type:                corev1.EventTypeNormal,
		Reason:              "Created",
		Action:              "Create",
		Note:                "Created a child of " + owner.GetName(),
		Regarding: corev1.ObjectReference{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Namespace: owner.GetNamespace(), Name: owner.GetName(),
			UID: owner.GetUID(), ResourceVersion: owner.GetResourceVersion(),
		},
	})
}

// deployment is the index of the only child that depends on the number of replicas.
const deployment = 0

func (i *ideal) applyChild(ctx context.Context, owner *unstructured.Unstructured, n int) error {
	replicas, _, err := unstructured.NestedInt64(owner.Object, "spec", i.env.kind.replicas)
	if err != nil {
		return err
	}
	c := i.template.children[n]
	text := strings.Replace(c.applied, `"replicas":1,`, fmt.Sprintf(`"replicas":%d,`, replicas), 1)
	return i.client.Patch(ctx, c.empty(client.ObjectKeyFromObject(owner)),
		client.RawPatch(types.ApplyPatchType, i.template.render(text, owner)), client.FieldOwner(idealAccount), client.ForceOwnership)
}

// writeStatuses writes the status of each resource whose Pods have become ready.
func (i *ideal) writeStatuses(ctx context.Context) {
	for {
		key, ended := i.ready.Get()
		if ended {
			return
		}
		i.env.semaphore <- struct{}{}
		err := i.writeStatus(ctx, key)
		<-i.env.semaphore
		i.ready.Done(key)
		if err != nil && ctx.Err() == nil {
			i.env.fail(fmt.Errorf("the ideal client's status of %s: %w", key, err))
			return
		}
	}
}

func (i *ideal) writeStatus(ctx context.Context, key types.NamespacedName) error {
	nodes, generation := i.env.observer.observed(key)
	status := maps.Clone(i.template.status)
	status["observedGeneration"], status["nodes"] = generation, nodes
	status["replicas"], status["readyReplicas"] = len(nodes), len(nodes)
	object := i.env.kind.empty(key)
	text, err := json.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(),
		"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name},
		"status":   status,
	})
	if err != nil {
		return err
	}
	body := strings.ReplaceAll(string(text), i.template.key.Name, key.Name)
	return i.client.Status().Patch(ctx, object, client.RawPatch(types.ApplyPatchType, []byte(body)),
		client.FieldOwner(idealAccount), client.ForceOwnership)
}
