package faults_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/specgen"
	"github.com/operator-assay/assay/test/scenarios"
)

// subjects contains both kinds and the maximum number of transitions to test for each of them with ALL=1. The gate tests
// a quarter of that number.
var subjects = []subject{{scenarios.New(scenarios.Published).WebServer, 40}, {scenarios.New(scenarios.Published).Memcached, 16}}

type subject struct {
	scenarios.TestKind
	transitions int
}

func (s subject) schema(t *testing.T) *specgen.Schema {
	t.Helper()
	crds, err := project.ReadCRDs("../../operator/config/crd/bases/" + s.Group + "_" + s.Plural() + ".yaml")
	noError(t, err)
	read, err := specgen.New(crds[0], s.Version, map[string][]any{"spec.image": {s.Images.From, s.Images.To}})
	noError(t, err)
	return read
}

// in returns the only resource in a namespace, with the given spec.
func (s subject) in(namespace string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(s.GroupVersionKind)
	object.SetNamespace(namespace)
	object.SetName("subject")
	if spec != nil {
		object.Object["spec"] = runtime.DeepCopyJSON(spec)
	}
	return object
}

// TestTransitions switches resources between specs generated from the schema. After each change, the resource must
// equal a fresh resource with the same spec.
func TestTransitions(t *testing.T) {
	ways := map[string][]specgen.Transition{} // by kind
	for _, s := range subjects {
		transitions := s.transitions
		if !playsAll() {
			transitions /= 4
		}
		all := s.schema(t).Transitions(1, transitions)
		ways[s.Kind] = roundTrips(all)
		t.Logf("%s: %d transitions in %d round trips", s.Kind, len(all), len(ways[s.Kind]))
	}
	tt := newTransitionTest(t)
	t.Run("round trips", func(t *testing.T) { tt.roundTrips(t, ways) })
	t.Run("recovery from impossible specs", func(t *testing.T) { tt.testRecovery(t, ways) })
	t.Run("invalid specs are rejected", tt.testInvalidSpecs)
}

func (tt *transitionTest) roundTrips(t *testing.T, ways map[string][]specgen.Transition) {
	var subtests []subtest
	for _, s := range subjects {
		for _, way := range ways[s.Kind] {
			subtests = append(subtests, subtest{fmt.Sprintf("%s %s", s.Kind, way), func(t *testing.T) {
				tt.checkAll(t, s, tt.newNamespace(t), way.From, way.To, way.From)
			}})
		}
	}
	runParallel(t, subtests)
}

// roundTrips removes each transition whose reverse is already in the list.
func roundTrips(transitions []specgen.Transition) []specgen.Transition {
	var ways []specgen.Transition
	for _, t := range transitions {
		if !slices.ContainsFunc(ways, func(way specgen.Transition) bool {
			return reflect.DeepEqual(way.From, t.To) && reflect.DeepEqual(way.To, t.From)
		}) {
			ways = append(ways, t)
		}
	}
	return ways
}
