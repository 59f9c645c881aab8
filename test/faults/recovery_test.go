package faults

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRefusedSpecsChangeNothing tries every bad spec that the schema suggests, where there is a resource
// and where there is none.
func TestRefusedSpecsChangeNothing(t *testing.T) {
	h := newHistory(t)
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			schema := s.schema(t)
			usual, nothing := h.newNamespace(t), h.newNamespace(t)
			h.passes(t, s, usual, schema.Transitions(1, 1)[0].From)
			resource := s.in(usual, nil)
			if err := plane.Client.Get(t.Context(), client.ObjectKeyFromObject(resource), resource); err != nil {
				t.Fatal(err)
			}
			before := len(h.witness.History(usual)) + len(h.witness.History(nothing))

			bad := schema.Bad()
			for _, b := range bad {
				resource.Object["spec"] = b.Spec
				if err := plane.Client.Update(t.Context(), resource.DeepCopy()); !errors.IsInvalid(err) {
					t.Errorf("no update is refused because of %s, but: %v", b.Why, err)
				}
				if err := plane.Client.Create(t.Context(), s.in(nothing, b.Spec)); !errors.IsInvalid(err) {
					t.Errorf("no new one is refused because of %s, but: %v", b.Why, err)
				}
			}
			t.Logf("%d bad specs", len(bad))

			for _, namespace := range []string{usual, nothing} {
				if err := h.witness.Calm(t.Context(), namespace, calm); err != nil {
					t.Error(err)
				}
			}
			if after := len(h.witness.History(usual)) + len(h.witness.History(nothing)); after != before {
				t.Errorf("%d times something was changed", after-before)
			}
		})
	}
}

// obstacle makes a spec impossible that the schema admits.
type obstacle struct {
	name string
	// of tells of which kinds.
	of func(subject) bool
	// spoil prepares the namespace and changes a good spec into one that is impossible there.
	spoil func(context.Context, *history, subject, string, map[string]any) error
	// meanwhile is what becomes of that without the operator, if anything.
	meanwhile func(context.Context, *history, subject, string) error
	// reason is what the operator has to say.
	reason string
	// after takes away what was prepared, once the spec is corrected.
	after func(context.Context, *history, subject, string, map[string]any) error
}

// TestBadSpecsAreRecoveredFrom corrects specs that could not be had, given to a resource that was well,
// or to a new one. It then has to end as a fresh one does.
func TestBadSpecsAreRecoveredFrom(t *testing.T) {
	h := newHistory(t)
	var stories []story
	for _, s := range subjects {
		for _, o := range obstacles {
			if !o.of(s) {
				continue
			}
			for i, transition := range s.schema(t).Transitions(2, 3) {
				stories = append(stories, story{fmt.Sprintf("%s with %s, then %s", s.Kind, o.name, transition), func(t *testing.T) {
					namespace := h.newNamespace(t)
					if i > 0 { // the first begins with nothing
						h.passes(t, s, namespace, transition.From)
					}
					h.recovers(t, s, o, namespace, transition.To)
				}})
			}
		}
	}
	play(t, stories)
}

func (h *history) recovers(t *testing.T, s subject, o obstacle, namespace string, good map[string]any) {
	t.Helper()
	ctx := t.Context()
	bad := maps.Clone(good)
	if err := o.spoil(ctx, h, s, namespace, bad); err != nil {
		t.Fatal(err)
	}
	if err := h.apply(ctx, s, namespace, bad); err != nil {
		t.Fatal(err)
	}
	if o.meanwhile != nil {
		if err := o.meanwhile(ctx, h, s, namespace); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.await(ctx, s, namespace, "", o.reason); err != nil {
		t.Fatal(err)
	}
	if err := h.apply(ctx, s, namespace, good); err != nil {
		t.Fatal(err)
	}
	if o.after != nil {
		if err := o.after(ctx, h, s, namespace, good); err != nil {
			t.Fatal(err)
		}
	}
	h.passes(t, s, namespace, good)
}
