package faults

import (
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/test/harness/specgen"
)

// badSpecsAreRecoveredFrom corrects specs that could not be had, given to a resource that was well, or to
// a new one.
func (h *history) badSpecsAreRecoveredFrom(t *testing.T, ways map[string][]specgen.Transition) {
	var stories []story
	for _, s := range subjects {
		for _, o := range obstacles {
			if !o.of(s) {
				continue
			}
			for i, way := range ways[s.Kind][:recoveries] {
				stories = append(stories, story{fmt.Sprintf("%s with %s, then %s", s.Kind, o.name, way), func(t *testing.T) {
					namespace := h.newNamespace(t)
					if i > 0 { // the first begins with nothing
						h.passes(t, s, namespace, way.From)
					}
					h.recovers(t, s, o, namespace, way.To)
				}})
			}
		}
	}
	play(t, stories)
}

// recoveries is how many times each obstacle is met by each kind.
const recoveries = 2

func (h *history) recovers(t *testing.T, s subject, o obstacle, namespace string, good map[string]any) {
	t.Helper()
	ctx := t.Context()
	bad := maps.Clone(good)
	if err := o.spoil(ctx, h, s, namespace, bad); err != nil {
		t.Fatal(err)
	}
	generation, err := h.apply(ctx, s, namespace, bad)
	if err != nil {
		t.Fatal(err)
	}
	if o.meanwhile != nil {
		if err := o.meanwhile(ctx, h, s, namespace); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.await(ctx, s, namespace, generation, "", o.reason); err != nil {
		t.Fatal(err)
	}
	if _, err := h.apply(ctx, s, namespace, good); err != nil {
		t.Fatal(err)
	}
	if o.after != nil {
		if err := o.after(ctx, h, s, namespace, good); err != nil {
			t.Fatal(err)
		}
	}
	h.passes(t, s, namespace, good)
}

// refusedSpecsChangeNothing tries every bad spec that the schema suggests, where there is a resource and
// where there is none.
func (h *history) refusedSpecsChangeNothing(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			schema := s.schema(t)
			usual, nothing := h.newNamespace(t), h.newNamespace(t)
			h.passes(t, s, usual, schema.Transitions(1, 1)[0].From)
			resource := h.latest(s, usual)
			before := len(h.witness.Versions(usual)) + len(h.witness.Versions(nothing))

			bad := schema.Invalid()
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
				if err := h.witness.WaitStable(t.Context(), namespace, calm); err != nil {
					t.Error(err)
				}
			}
			if after := len(h.witness.Versions(usual)) + len(h.witness.Versions(nothing)); after != before {
				t.Errorf("%d times something was changed", after-before)
			}
		})
	}
}
