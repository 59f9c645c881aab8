package invent_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/invent"
	"github.com/operator-assay/assay/harness/project"
)

const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: notes}
rules:
- {apiGroups: [invent.example.com], resources: [notes], verbs: [get, list, watch]}
- {apiGroups: [invent.example.com], resources: [notes/finalizers], verbs: [update]}
- {apiGroups: [""], resources: [configmaps, secrets], verbs: [get, list, watch, create, patch]}
`

var noteKind = schema.GroupVersionKind{Group: "invent.example.com", Version: "v1", Kind: "Note"}

// newExplorer returns an explorer for an operator that copies the text of a Note to a ConfigMap and creates an empty
// Secret. The operator restores the ConfigMap but not the Secret. The only fields it reads are "text", "copies" and
// "pages". It ignores Notes that are named "ignored".
func newExplorer(t *testing.T) *explore.Explorer {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{"testdata"}})
	noError(t, err)
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	identity, err := plane.User(t.Context(), "notes", []byte(role))
	noError(t, err)
	noError(t, plane.Client.Create(t.Context(), defaulter(t)))
	explorer, err := explore.New(t.Context(), explore.Options{Environment: explore.Environment{ControlPlane: plane, Identity: identity, Operator: operate}, StepTimeout: time.Minute})
	noError(t, err)
	t.Cleanup(explorer.Close)
	return explorer
}

// defaulter starts a webhook that sets the text of Notes in the namespace of a run. It returns the configuration.
func defaulter(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	server := httptest.NewTLSServer(&admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		note := string(request.Object.Raw)
		if strings.HasPrefix(request.Namespace, "run-") && !strings.Contains(note, `"text":`) {
			note = strings.Replace(note, `"spec":{`, `"spec":{"text":"default",`, 1)
		}
		return admission.PatchResponseFromRaw(request.Object.Raw, []byte(note))
	})})
	t.Cleanup(server.Close)
	rule := admissionregistrationv1.Rule{APIGroups: []string{noteKind.Group}, APIVersions: []string{noteKind.Version}, Resources: []string{"notes"}}
	return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "defaulter"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Name: "defaulter.example.com", SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
		Rules:        []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{"CREATE"}, Rule: rule}},
	}}}
}

func operate(ctx context.Context, namespace string, cfg *rest.Config, log io.Writer) error {
	fmt.Fprintln(log, `{"error":"no matches for kind \"ServiceMonitor\" in version \"monitoring.coreos.com/v1\""}`)
	fmt.Fprintln(log, `no matches for kind "Hunter22" in group "example.com"; example.com/v1: no matches for example.com/v1, Resource=`)
	manager, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return err
	}
	note := &unstructured.Unstructured{}
	note.SetGroupVersionKind(noteKind)
	absent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "absent", Namespace: namespace}}
	_ = manager.GetClient().Patch(ctx, absent, client.RawPatch(types.MergePatchType, []byte("{}"))) // a write before the sample exists
	err = ctrl.NewControllerManagedBy(manager).For(note).Owns(&corev1.ConfigMap{}).Complete(&notes{Client: manager.GetClient(), written: map[string]bool{}})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

type notes struct {
	client.Client
	written map[string]bool
}

func (n *notes) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	note := &unstructured.Unstructured{}
	note.SetGroupVersionKind(noteKind)
	if err := n.Get(ctx, request.NamespacedName, note); err != nil || request.Name == "ignored" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	owner := applymetav1.OwnerReference().WithAPIVersion("invent.example.com/v1").WithKind("Note").WithName(note.GetName()).WithUID(note.GetUID()).WithController(true)
	text, _, _ := unstructured.NestedString(note.Object, "spec", "text")
	copies, _, _ := unstructured.NestedInt64(note.Object, "spec", "copies")
	pages, isSet, _ := unstructured.NestedInt64(note.Object, "spec", "pages")
	if !isSet {
		pages = 2 // the first value that is tried
	}
	if !n.written[string(note.GetUID())] {
		n.written[string(note.GetUID())] = true
		secret := applycorev1.Secret(note.GetName()+"-once", note.GetNamespace()).WithOwnerReferences(owner)
		if err := n.Apply(ctx, secret, client.FieldOwner("notes"), client.ForceOwnership); err != nil {
			return reconcile.Result{}, err
		}
	}
	configMap := applycorev1.ConfigMap(note.GetName(), note.GetNamespace()).WithOwnerReferences(owner).
		WithData(map[string]string{"text": text, "copies": fmt.Sprint(copies), "pages": fmt.Sprint(pages)})
	return reconcile.Result{}, n.Apply(ctx, configMap, client.FieldOwner("notes"), client.ForceOwnership)
}

func readSamples(t *testing.T, text string) []project.Sample {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sample.yaml")
	noError(t, os.WriteFile(file, []byte(text), 0o644))
	crds, err := project.ReadCRDs("testdata")
	noError(t, err)
	samples, _, err := project.ReadSamples(crds, file)
	noError(t, err)
	return samples
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestScenariosAreInventedFromSample(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	explorer := newExplorer(t)
	t.Run("valid sample", func(t *testing.T) { inventFromValidSample(t, explorer) })
	t.Run("ignored sample", func(t *testing.T) { inventFromIgnoredSample(t, explorer) })
	t.Run("rejected sample", func(t *testing.T) { rejectSample(t, explorer) })
	t.Run("rejected and valid sample", func(t *testing.T) { inventDespiteRejectedSample(t, explorer) })
}

const validSample = "{apiVersion: invent.example.com/v1, kind: Note, metadata: {name: hello}, spec: {text: hello, copies: 1, fixed: a}}"

const incompleteSample = "{apiVersion: invent.example.com/v1, kind: Note, metadata: {name: hello}, spec: {copies: 1}}"

const rejectedSample = "{apiVersion: invent.example.com/v1, kind: Note, metadata: {name: hello}, spec: {copies: 7}}"

func inventFromValidSample(t *testing.T, explorer *explore.Explorer) {
	t.Parallel()
	samples := readSamples(t, validSample)
	invented, err := invent.Scenarios(t.Context(), explorer, samples, func(found invent.Scenario) error { return explorer.AddScenario(found.Scenario) })
	if err != nil || len(invented.Notes) != 1 || !strings.Contains(invented.Notes[0], `no matches for kind "ServiceMonitor"`) {
		t.Fatalf("got %+v, %v, want a note about missing APIs", invented, err)
	}
	var got []string
	for _, scenario := range invented.Scenarios {
		got = append(got, scenario.Document.Name+": "+scenario.About)
	}
	want := []string{
		"note/create: create " + samples[0].File,
		"note/delete-configmap: delete the ConfigMap hello",
		"note/delete: delete it",
		"note/recreate: delete it, and create it again",
		"note/change-copies: spec.copies: 1 → 2, and back",
		`note/change-text: spec.text: "hello" → "hello-2", and back`,
		"note/change-pages: spec.pages: absent → 1, and back",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	left := strings.Join(invented.Left, "\n")
	for _, why := range []string{"note: the API server or a webhook rejects changes to fixed", "the operator does not react to ignored"} {
		if !strings.Contains(left, why) {
			t.Errorf("got\n%s\nwant %q", left, why)
		}
	}
	if found := explorer.WithoutFault(); len(found) != 1 || found[0].Scenario != "note/delete-secret" || !strings.HasPrefix(found[0].Message, "the operator does not recreate the deleted Secret hello-once, although it recreates a deleted ConfigMap") {
		t.Errorf("got findings %v, want one about the Secret", found)
	}
	var covered []int
	for _, s := range explorer.Options.Scenarios {
		covered = append(covered, s.Covered)
	}
	if want := []int{0, 2, 2, 4, 2, 2, 2}; !slices.Equal(covered, want) {
		t.Errorf("got %v covered steps, want %v", covered, want)
	}
}

// inventFromIgnoredSample derives scenarios from a sample for which the operator writes nothing. The operator logs a word
// from the sample's Secret.
func inventFromIgnoredSample(t *testing.T, explorer *explore.Explorer) {
	t.Parallel()
	samples := readSamples(t, "{apiVersion: v1, kind: Secret, metadata: {name: password}, stringData: {a: Hunter22}}\n---\n"+strings.Replace(validSample, "{name: hello}", "{name: ignored}", 1))
	invented, err := invent.Scenarios(t.Context(), explorer, samples, func(invent.Scenario) error { return nil }, "note/create", "note/change-text")
	noError(t, err)
	want := []string{
		samples[0].File + ": the operator wrote nothing after the sample was created, so its scenarios prove little",
		"the operator's log says: no matches for example.com/v1, no matches for kind \"<value of a Secret>\", no matches for kind \"ServiceMonitor\": if the operator needs these APIs, add their CRDs to the manifests, or pass all CRDs with --crds",
	}
	if !slices.Equal(invented.Notes, want) || len(invented.Scenarios) != 1 || invented.Left != nil {
		t.Errorf("got notes %q, scenarios %v, left out %q, want one scenario and %q", invented.Notes, invented.Scenarios, invented.Left, want)
	}
}

func rejectSample(t *testing.T, explorer *explore.Explorer) {
	t.Parallel()
	samples := append(readSamples(t, rejectedSample), readSamples(t, rejectedSample)...)
	samples[1].File = "note.yaml" // comes first, because it is named after the kind
	_, err := invent.Scenarios(t.Context(), explorer, samples, func(invent.Scenario) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "note.yaml: the API server rejects the sample: ") || !strings.Contains(err.Error(), "spec.copies: Invalid value: 7") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with the API server's reason", err)
	}
}

// inventDespiteRejectedSample derives scenarios from two samples. The API server rejects the first one. A webhook sets
// missing fields in the second one.
func inventDespiteRejectedSample(t *testing.T, explorer *explore.Explorer) {
	t.Parallel()
	samples := append(readSamples(t, rejectedSample), readSamples(t, incompleteSample)...)
	some, err := invent.Scenarios(t.Context(), explorer, samples, func(invent.Scenario) error { return nil }, "note-hello-2/create")
	if err != nil || len(some.Scenarios) != 1 || some.Scenarios[0].Document.Name != "note-hello-2/create" {
		t.Fatalf("got %v, %v, want the scenario of this name", some, err)
	}
	if len(some.Left) != 1 || !strings.Contains(some.Left[0], "sample.yaml: the API server rejects the sample: ") {
		t.Errorf("got left out %q, want the rejected sample", some.Left)
	}
}
