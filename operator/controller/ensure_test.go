package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// TestARefusalRemainsWhateverServesUntilThen has a Service fall back to another node port, or to none, by force, since somebody
// else may own the type.
func TestARefusalRemainsWhateverServesUntilThen(t *testing.T) {
	refused, taken, broken := apierrors.NewInvalid(schema.GroupKind{}, "first", nil), apierrors.NewInvalid(schema.GroupKind{}, "second", nil), errors.New("broken")
	for name, test := range map[string]struct {
		reason   string
		looked   error
		answers  []error // to each fallback
		upToDate bool    // the last is
		want     error
		says     string
		applied  []string
	}{
		"it is made":              {reason: reasonCreated, answers: []error{nil, nil}, want: refused, says: "; until then it serves 0", applied: []string{"0"}},
		"it is updated":           {reason: reasonUpdated, answers: []error{nil, nil}, want: refused, says: "; until then it serves 0", applied: []string{"0 by force"}},
		"it is repaired":          {reason: reasonRepaired, answers: []error{nil, nil}, want: refused, says: "; until then it serves 0", applied: []string{"0 by force"}},
		"the first is refused":    {reason: reasonUpdated, answers: []error{taken, nil}, want: refused, says: "; until then it serves 1", applied: []string{"0 by force", "1 by force"}},
		"each is refused":         {reason: reasonUpdated, answers: []error{taken, taken}, want: refused, applied: []string{"0 by force", "1 by force"}},
		"the first fails":         {reason: reasonUpdated, answers: []error{broken, nil}, want: broken, applied: []string{"0 by force"}},
		"the last is there":       {reason: reasonUpdated, answers: []error{taken, broken}, upToDate: true, want: refused, says: "; until then it serves 1", applied: []string{"0 by force"}},
		"the watch shows it late": {reason: reasonUpdated, answers: []error{&blocker{written: "2"}, nil}, want: refused, says: "; until then it serves 0", applied: []string{"0 by force"}},
		"it has none":             {reason: reasonUpdated, want: refused},
		"nobody knows who is for": {reason: reasonUpdated, looked: broken, answers: []error{nil}, want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			var applied []string
			service, refusedChild := appliedService()
			stored := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name, UID: service.UID}}
			r := newFakeReconciler(interceptor.NewClient(newFakeClient(t, stored), interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					request := fmt.Sprint(len(applied))
					if ptr.Deref((&client.ApplyOptions{}).ApplyOptions(options).Force, false) {
						request += " by force"
					}
					applied = append(applied, request)
					return test.answers[len(applied)-1]
				},
			}))
			refusedChild.fallbacks = func(_ context.Context, _ client.Reader, err error) ([]*child, error) {
				if !errors.Is(err, refused) {
					t.Errorf("asked is for %v", err)
				}
				var fallbacks []*child
				for i := range test.answers {
					_, fallback := appliedService()
					fallback.serves = fmt.Sprint(i)
					if i < len(test.answers)-1 || !test.upToDate {
						fallback.extract = func() (any, error) { return nil, nil }
					}
					fallbacks = append(fallbacks, fallback)
				}
				return fallbacks, test.looked
			}
			err := r.fallBack(t.Context(), storedWebServer(), refusedChild, test.reason, refused)
			if !errors.Is(err, test.want) || !strings.HasSuffix(err.Error(), test.says) || test.says == "" && strings.Contains(err.Error(), "until then") {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(applied, test.applied) {
				t.Errorf("applied is %q, want %q", applied, test.applied)
			}
		})
	}
}

// TestARefusalCostsNoOtherRequest: of a creation there is nothing to replace, and a stale update says nothing of who has the name.
func TestARefusalCostsNoOtherRequest(t *testing.T) {
	for name, test := range map[string]struct {
		begin    string
		answered error
		unwanted string
	}{
		"a creation is invalid": {"a missing child", apierrors.NewInvalid(schema.GroupKind{}, "web-service", nil), "patch web-service"},
		"an update is stale":    {"a node port", apierrors.NewConflict(schema.GroupResource{}, "web-service", errors.New("changed")), "look web-service"},
	} {
		server := newFakeServer(t, settledObjects(t)...)
		work[test.begin](t, server.fake)
		server.failing, server.failure = "apply web-service", test.answered
		server.apiReader = interceptor.NewClient(server.fake, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if test.begin == "a node port" {
					server.requests = append(server.requests, "look "+key.Name)
				}
				return c.Get(ctx, key, object, options...)
			},
		})
		if _, requests := server.event(); slices.Contains(requests, test.unwanted) || !slices.Contains(requests, "apply web-service") {
			t.Errorf("%s: requested is %q", name, requests)
		}
	}
}
