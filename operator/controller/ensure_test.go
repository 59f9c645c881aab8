package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestANoteFitsIntoAnEvent(t *testing.T) {
	short := strings.Repeat("ü", maxEventNote/len("ü"))
	if truncate(short, maxEventNote) != short {
		t.Error("what fits is cut")
	}
	for _, long := range []string{short + "!", "!" + short, strings.Repeat("x", 10*maxEventNote)} {
		if cut := truncate(long, maxEventNote); len(cut) > maxEventNote || len(cut) < maxEventNote-len("ü…") || !strings.HasSuffix(cut, "…") || !utf8.ValidString(cut) {
			t.Errorf("%d bytes became %d: %q", len(long), len(cut), cut)
		} else if !strings.HasPrefix(long, strings.TrimSuffix(cut, "…")) {
			t.Errorf("%q is no beginning of what was cut", cut)
		}
	}
}

func TestAConditionsMessageFitsIntoAStatus(t *testing.T) {
	const allowed = 32768 // by the API server
	if c := newCondition("Degraded", true, "Rejected", "%s", strings.Repeat("x", 2*allowed)); len(c.Message) != allowed {
		t.Errorf("it has %d bytes", len(c.Message))
	}
}

func TestAnEventTellsWhatBecameOfAChild(t *testing.T) {
	changes := []string{"spec.replicas: 1 → 2", "spec.paused: true → none"}
	for _, test := range []struct {
		reason  string
		changes []string
		want    string
	}{
		{reasonCreated, changes, "Normal Created Apply Created Service web-service"},
		{reasonUpdated, changes, "Normal Updated Apply Updated Service web-service: spec.replicas: 1 → 2, spec.paused: true → none"},
		{reasonRepaired, changes[:1], "Normal Repaired Apply Repaired Service web-service: spec.replicas: 1 → 2"},
		{reasonDeleted, []string{"no update can repair it"}, "Normal Deleted Apply Deleted Service web-service: no update can repair it"},
		{reasonRepaired, nil, ""}, // only the ownership came back
	} {
		ws := storedWebServer()
		told := events.NewFakeRecorder(1)
		told.Verbose = true
		r := newFakeReconciler(newFakeClient(t))
		r.events = told
		r.recordChange(t.Context(), ws, webServers.children(webServers, ws).service, test.reason, test.changes)
		got := ""
		if len(told.Events) > 0 {
			got, _, _ = strings.Cut(<-told.Events, " involvedObject{")
		}
		if got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestARefusalRemainsWhateverIsYielded has a Service give up its node port by force, since somebody else may own the type.
func TestARefusalRemainsWhateverIsYielded(t *testing.T) {
	refused, broken := errors.New("refused"), errors.New("broken")
	for name, test := range map[string]struct {
		needed           bool
		looked, answered error
		want             error
	}{
		"nobody waits for it":   {want: refused},
		"nobody knows who does": {looked: broken, want: broken},
		"somebody does":         {needed: true, want: refused},
		"it cannot be given up": {needed: true, answered: broken, want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			applied := false
			r := newFakeReconciler(interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					applied = ptr.Deref((&client.ApplyOptions{}).ApplyOptions(options).Force, false)
					return test.answered
				},
			}))
			_, child := appliedService()
			child.yield = func(context.Context, client.Reader) (bool, error) { return test.needed, test.looked }
			if err := r.yield(t.Context(), storedWebServer(), child, refused); !errors.Is(err, test.want) || applied != test.needed {
				t.Errorf("got %v, applied by force: %t", err, applied)
			}
		})
	}
}

// TestANodePortIsGivenUpForARefusalAlone: somebody may wait for a Service's node port all the time.
func TestANodePortIsGivenUpForARefusalAlone(t *testing.T) {
	for name, test := range map[string]struct {
		answered error
		asked    bool
	}{
		"it is written": {nil, false},
		"it is stale":   {apierrors.NewConflict(schema.GroupResource{}, "web-service", errors.New("changed")), false},
		"it is refused": {apierrors.NewInvalid(schema.GroupKind{}, "web-service", nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, asked := newFakeClient(t, settledObjects(t)...), false
				r := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
					Apply: refuseBy(test.answered),
					Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
						return test.answered
					},
				}))
				children, err := r.readChildren(t.Context(), getWebServer(t, fake))
				if err != nil {
					t.Fatal(err)
				}
				children.service.yield = func(context.Context, client.Reader) (bool, error) { asked = true; return false, nil }
				if err := r.write(t.Context(), getWebServer(t, fake), children.service); (err == nil) != (test.answered == nil) {
					t.Errorf("got %v", err)
				}
				if asked != test.asked {
					t.Errorf("it is asked who waits for it: %t", asked)
				}
			})
		})
	}
}
