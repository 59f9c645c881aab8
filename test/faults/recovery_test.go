package faults_test

import (
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/harness/specgen"
)

// testRecovery applies an impossible spec to a healthy or new resource, corrects the spec, and compares the result with
// a fresh resource.
func (tt *transitionTest) testRecovery(t *testing.T, ways map[string][]specgen.Transition) {
	var subtests []subtest
	for _, s := range subjects {
		for _, b := range obstacles {
			if !b.appliesTo(s) {
				continue
			}
			for i, way := range ways[s.Kind][:transitionsPerObstacle] {
				subtests = append(subtests, subtest{fmt.Sprintf("%s with %s, then %s", s.Kind, b.name, way), func(t *testing.T) {
					namespace := tt.newNamespace(t)
					if i > 0 { // the first case starts with a new resource
						tt.checkAll(t, s, namespace, way.From)
					}
					tt.checkRecovery(t, s, b, namespace, way.To)
				}})
			}
		}
	}
	runParallel(t, maxParallel, subtests)
}

const transitionsPerObstacle = 2

func (tt *transitionTest) checkRecovery(t *testing.T, s subject, b obstacle, namespace string, good map[string]any) {
	t.Helper()
	ctx := t.Context()
	bad := maps.Clone(good)
	noError(t, b.setup(ctx, tt, s, namespace, bad))
	generation, err := tt.apply(ctx, s, namespace, bad)
	noError(t, err)
	if b.whileBlocked != nil {
		noError(t, b.whileBlocked(ctx, tt, s, namespace))
	}
	noError(t, tt.waitForReasons(ctx, s, namespace, generation, "", b.reason))
	if _, err := tt.apply(ctx, s, namespace, good); err != nil {
		t.Fatal(err)
	}
	if b.cleanUp != nil {
		noError(t, b.cleanUp(ctx, tt, s, namespace, good))
	}
	tt.checkAll(t, s, namespace, good)
}

// testInvalidSpecs applies all invalid specs derived from the schema to an existing resource and to a new one.
func (tt *transitionTest) testInvalidSpecs(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			usual, nothing := tt.newNamespace(t), tt.newNamespace(t)
			tt.checkAll(t, s, usual, s.specs[0])
			tt.waitStable(t, usual, nothing) // other controllers still create objects, such as the ConfigMap with the root CA
			resource := tt.latest(s, usual)
			before := tt.versions(usual, nothing)

			bad := s.schema(t).Invalid(s.specs[0])
			if len(bad) == 0 {
				t.Errorf("got no invalid specs from %v", s.specs[0])
			}
			for _, b := range bad {
				resource.Object["spec"] = b.Spec
				if err := plane.Client.Update(t.Context(), resource.DeepCopy()); !errors.IsInvalid(err) {
					t.Errorf("update with %s: got error %v, want Invalid", b.Why, err)
				}
				if err := plane.Client.Create(t.Context(), s.in(nothing, b.Spec)); !errors.IsInvalid(err) {
					t.Errorf("create with %s: got error %v, want Invalid", b.Why, err)
				}
			}
			t.Logf("%d invalid specs", len(bad))

			tt.waitStable(t, usual, nothing)
			if after := tt.versions(usual, nothing); after != before {
				t.Errorf("got %d changes in the namespaces, want none", after-before)
			}
		})
	}
}

func (tt *transitionTest) waitStable(t *testing.T, namespaces ...string) {
	t.Helper()
	for _, namespace := range namespaces {
		if err := tt.history.WaitStable(t.Context(), namespace, stableFor); err != nil {
			t.Error(err)
		}
	}
}

// versions returns the number of object versions in the namespaces. It ignores the objects of the endpoints
// controllers, which may be written up to a second after all others.
func (tt *transitionTest) versions(namespaces ...string) int {
	count := 0
	for _, namespace := range namespaces {
		for _, version := range tt.history.Versions(namespace) {
			if kind := version.GetKind(); kind != "Endpoints" && kind != "EndpointSlice" {
				count++
			}
		}
	}
	return count
}
