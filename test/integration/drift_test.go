package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/operator/controller"
)

// otherManager is the field owner of changes that other clients make.
const otherManager = client.FieldOwner("kubectl-edit")

type jsonObject = map[string]any

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// tampering is a JSON patch that another client applies to a child.
type tampering struct {
	what  string
	patch []operation
}

const theContainer = "/spec/template/spec/containers/0"

// swaps contains changes that replace several fields at once, or that add a conflicting field.
var swaps = map[string][]tampering{
	"Deployment": {
		{"recreating the Pods", []operation{{"replace", "/spec/strategy", jsonObject{"type": "Recreate"}}}},
		{"replacing the container", []operation{{"replace", theContainer, jsonObject{"name": "other", "image": "other:1"}}}},
		{"probing by HTTP", []operation{{"replace", theContainer + "/readinessProbe", jsonObject{"httpGet": jsonObject{"port": 1234}}}}},
		{"rolling out without another Pod", []operation{{"replace", "/spec/strategy/rollingUpdate", jsonObject{"maxSurge": "0%", "maxUnavailable": 1}}}},
		{"privileging the container", []operation{{"replace", theContainer + "/securityContext", jsonObject{"privileged": true, "allowPrivilegeEscalation": true}}}},
	},
	"Service": {
		{"naming an external host", []operation{{"replace", "/spec", jsonObject{"type": "ExternalName", "externalName": "example.com"}}}},
		{"replacing the port", []operation{{"replace", "/spec/ports/0", jsonObject{"name": "other", "port": 90}}}},
		{"restricting a load balancer", []operation{{"replace", "/spec/type", "LoadBalancer"}, {"add", "/spec/loadBalancerSourceRanges", []string{"192.0.2.0/24"}}}},
	},
}

// rejected lists the changes that the operator cannot repair. The API server rejects the repair, because the operator's
// fields conflict with a field that the other client has added.
var rejected = map[string][]string{
	"Deployment": {"].containerPort", "probing by HTTP", "rolling out without another Pod", "privileging the container"},
	"Service":    {"].port", "restricting a load balancer"},
}

// firstNodePort is the lowest node port. No other Service uses it, because the API server allocates the lowest ports
// last.
const firstNodePort = 30000

// immutable matches the fields that the API server does not let any client change.
var immutable = regexp.MustCompile(`^\.spec\.(selector$|template\.metadata\.labels\.)`)

var _ = Describe("Drift", func() {
	// Use a separate resource for each change, because the operator delays repairs after the tenth repair of a child. With
	// zero replicas, a changed Pod template causes no rollout, and the test also detects an operator that treats zero as
	// an unset field.
	DescribeTable("is repaired in every field that the operator owns", SpecPriority(1),
		func(ctx SpecContext, newOwner func(namespace, name string) workloadObject, kind string) {
			namespace := newNamespace(ctx)
			model := newOwner(namespace, "model")
			serving(ctx, model, 0)
			effective := newDriftTarget(ctx, model, kind).effectiveChanges(ctx, kind)
			owners := make([]workloadObject, len(effective))
			for i := range owners {
				owners[i] = newOwner(namespace, fmt.Sprintf("idle-%d", i))
				create(ctx, owners[i])
			}
			targets := make([]*driftTarget, len(effective))
			for i, t := range effective {
				waitFor(ctx, current(owners[i]), beReady(0))
				targets[i] = newDriftTarget(ctx, owners[i], kind)
				_, err := targets[i].tamper(ctx, t)
				Expect(err).NotTo(HaveOccurred(), t.what)
			}
			var gotRejected []string
			for i, t := range effective {
				var outcome string
				waitFor(ctx, func(ctx context.Context) (_ string, err error) {
					outcome, err = targets[i].outcome(ctx)
					return outcome, err
				}, BeElementOf("repaired", "rejected"), t.what)
				if outcome == "rejected" {
					gotRejected = append(gotRejected, t.what)
				} else {
					waitFor(ctx, managersOf(targets[i].original), Not(ContainElement(controller.Name+" Update")), "%s: fields that the operator owns by Update instead of Apply", t.what)
				}
			}
			wantRejected := make([]any, len(rejected[kind]))
			for i, suffix := range rejected[kind] {
				wantRejected[i] = HaveSuffix(suffix)
			}
			Expect(gotRejected).To(ConsistOf(wantRejected...), "changes whose repair the API server rejects")
		},
		Entry("of a WebServer's Deployment", idleWebServer, "Deployment"),
		Entry("of a WebServer's Service", idleWebServer, "Service"),
		Entry("of a Memcached's Deployment", idleMemcached, "Deployment"),
	)

	It("is repaired after another client applies the operator's fields with force", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 1), 1)
		replicas := appsv1ac.Deployment(cache.Name, namespace).WithSpec(appsv1ac.DeploymentSpec().WithReplicas(4))
		Expect(plane.Client.Apply(ctx, replicas, otherManager, client.ForceOwnership)).To(Succeed())
		waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Repaired", "Deployment cache", "spec.replicas: 4 → 1"))
		waitFor(ctx, current(cache), beReady(1))
	})
})

func idleWebServer(namespace, name string) workloadObject {
	web := newWebServer(namespace, name, 0)
	web.Spec.Port = 8080
	return web
}

func idleMemcached(namespace, name string) workloadObject { return newMemcached(namespace, name, 0) }

// driftTarget is a child whose fields the test changes.
type driftTarget struct {
	owner    workloadObject
	original *unstructured.Unstructured
	fields   map[string]ownedField // the fields that the operator owns
}

func newDriftTarget(ctx context.Context, owner workloadObject, kind string) *driftTarget {
	GinkgoHelper()
	d := &driftTarget{owner: owner, original: childOf(owner, kind)}
	if kind == "Service" {
		// The API server allocated the node port. Make the operator recreate the Service, so that it owns the port.
		Expect(plane.Client.Delete(ctx, newService(owner))).To(Succeed())
	}
	waitFor(ctx, exists(d.original), BeTrue())
	var err error
	d.fields, err = ownedFields(d.original, controller.Name, metav1.ManagedFieldsOperationApply)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// effectiveChanges returns the changes that the API server accepts and that affect an owned field. It fails the test if
// they do not cover every mutable owned field.
func (d *driftTarget) effectiveChanges(ctx context.Context, kind string) (effective []tampering) {
	GinkgoHelper()
	changed := map[string]bool{}
	for _, t := range append(d.tamperings(), swaps[kind]...) {
		tampered, err := d.tamper(ctx, t, client.DryRunAll)
		if apierrors.IsInvalid(err) {
			continue
		}
		Expect(err).NotTo(HaveOccurred(), t.what)
		lost := d.changedFields(tampered)
		for _, path := range lost {
			changed[path] = true
		}
		if len(lost) > 0 { // otherwise the API server has set a default that matches the operator's value
			effective = append(effective, t)
		}
	}
	for path := range d.fields {
		Expect(changed[path] || immutable.MatchString(path)).To(BeTrue(), "no change affects %s", path)
	}
	return effective
}

// tamperings returns patches that change or remove each owned field, and patches that remove an object or list that
// contains owned fields.
func (d *driftTarget) tamperings() []tampering {
	var all []tampering
	removed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(d.fields)) {
		field := d.fields[path]
		all = append(all, tampering{"changing " + path, []operation{{"replace", pointer(field.steps), another(field.value)}}})
		for i := 2; i <= len(field.steps); i++ {
			if part := pointer(field.steps[:i]); !removed[part] {
				removed[part] = true
				all = append(all, tampering{"removing " + part, []operation{{"remove", part, nil}}})
			}
		}
	}
	return all
}

// another returns a value that differs from the operator's value.
func another(value any) any {
	switch value := value.(type) {
	case string:
		return "tampered"
	case int64:
		if value >= firstNodePort { // another Service may have the next node port
			return firstNodePort
		}
		return value + 1
	case bool:
		return !value
	case []any:
		return []any{"tampered"}
	default:
		return jsonObject{"app": "tampered"}
	}
}

func pointer(steps []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var out strings.Builder
	for _, step := range steps {
		out.WriteString("/" + escape.Replace(step))
	}
	return out.String()
}

func (d *driftTarget) tamper(ctx context.Context, t tampering, options ...client.PatchOption) (*unstructured.Unstructured, error) {
	GinkgoHelper()
	patch, err := json.Marshal(t.patch)
	Expect(err).NotTo(HaveOccurred())
	tampered := d.original.DeepCopy()
	return tampered, plane.Client.Patch(ctx, tampered, client.RawPatch(types.JSONPatchType, patch), append(options, otherManager)...)
}

// managersOf returns a function that lists an object's field managers and their operations. It ignores the status.
func managersOf(object client.Object) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		var managers []string
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		for _, entry := range object.GetManagedFields() {
			if entry.Subresource == "" {
				managers = append(managers, entry.Manager+" "+string(entry.Operation))
			}
		}
		return managers, err
	}
}

// changedFields returns the fields that differ from the operator's values.
func (d *driftTarget) changedFields(live *unstructured.Unstructured) []string {
	var changed []string
	for path, field := range d.fields {
		if value, _, _ := find(live, field.path); !reflect.DeepEqual(value, field.value) {
			changed = append(changed, path)
		}
	}
	return changed
}

// outcome returns "repaired", or "rejected" if the API server rejects the repair, or the fields that still differ. It
// fails if the child was replaced by a new object.
func (d *driftTarget) outcome(ctx context.Context) (string, error) {
	live := d.original.DeepCopy()
	if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return "", err
	}
	if live.GetUID() != d.original.GetUID() {
		return "", StopTrying(fmt.Sprintf("another %s has taken its place", live.GetKind()))
	}
	lost := d.changedFields(live)
	if len(lost) == 0 {
		return "repaired", nil
	}
	owner, err := current(d.owner)(ctx)
	if err != nil {
		return "", err
	}
	if isRejected, _ := beDegraded(workload.ReasonRejected, "the "+live.GetKind()+" cannot be written").Match(owner); isRejected {
		return "rejected", nil
	}
	return fmt.Sprintf("missing %q", lost), nil
}
