package faults_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/specgen"
	"github.com/operator-assay/assay/test/scenarios"
)

// subjects lists the kinds and, for each kind, the initial specs of the transitions.
var subjects = []subject{
	{scenarios.New(scenarios.Published).WebServer, []map[string]any{
		{"image": "nginx:1.23.1", "replicas": int64(3)},
		{"image": "nginx:1.23.1", "port": int64(8080), "nodePort": int64(30001)},
	}},
	{scenarios.New(scenarios.Published).Memcached, []map[string]any{{"size": int64(3)}, {"size": int64(2), "image": "memcached:1.6"}}},
}

type subject struct {
	scenarios.TestKind
	specs []map[string]any
}

func (s subject) schema(t *testing.T) *specgen.Schema {
	t.Helper()
	crds, err := project.ReadCRDs("../../operator/config/crd/bases/" + s.Group + "_" + s.Plural() + ".yaml")
	noError(t, err)
	read, err := specgen.New(crds[0], s.Version)
	noError(t, err)
	return read
}

// subjectWith returns a resource with the name "subject" and the given spec.
func (s subject) subjectWith(namespace string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(s.GroupVersionKind)
	object.SetNamespace(namespace)
	object.SetName("subject")
	if spec != nil {
		object.Object["spec"] = runtime.DeepCopyJSON(spec)
	}
	return object
}

// TestTransitions changes each field of a resource, and changes it back. After each change, the resource must match a
// freshly created one with the same spec.
func TestTransitions(t *testing.T) {
	perField := 1
	if playsAll() {
		perField = 5
	}
	ways := map[string][]specgen.Transition{} // by kind
	for _, s := range subjects {
		for _, spec := range s.specs {
			transitions := slices.Collect(s.schema(t).Transitions(spec, perField))
			if len(transitions) == 0 {
				t.Errorf("%s: got no transitions from spec %v", s.Kind, spec)
			}
			ways[s.Kind] = append(ways[s.Kind], transitions...)
		}
		t.Logf("%s: %d round trips", s.Kind, len(ways[s.Kind]))
	}
	tt := newTransitionTest(t)
	t.Run("round trips", func(t *testing.T) {
		for _, s := range subjects {
			for _, way := range ways[s.Kind] {
				t.Run(fmt.Sprintf("%s %s", s.Kind, way), func(t *testing.T) {
					t.Parallel()
					tt.checkAll(t, s, tt.newNamespace(t), way.From, way.To, way.From)
				})
			}
		}
	})
	t.Run("recovery from an impossible spec", tt.testRecovery)
	t.Run("invalid specs are rejected", tt.testInvalidSpecs)
}
