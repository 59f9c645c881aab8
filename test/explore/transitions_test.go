package explore_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/harness/project"
	"github.com/operator-assay/assay/test/harness/specgen"
	"github.com/operator-assay/assay/test/scenarios"
)

// subjects are both kinds, with what their schemas do not say.
var subjects = []subject{
	{
		GroupVersionKind: webserverv1.GroupVersion.WithKind("WebServer"),
		crd:              "my.domain_webservers.yaml",
		replicas:         "replicas",
		transitions:      40,
		images:           scenarios.Published.WebServer,
	},
	{
		GroupVersionKind: memcachedv1alpha1.GroupVersion.WithKind("Memcached"),
		crd:              "cache.example.com_memcacheds.yaml",
		replicas:         "size",
		transitions:      16,
		images:           scenarios.Published.Memcached,
	},
}

type subject struct {
	schema.GroupVersionKind
	crd      string
	replicas string // the field of the spec with the number of Pods
	images   scenarios.Versions
	// transitions is how many are tried: all of a single field, and some random ones.
	transitions int
}

// schema is that of the kind's CustomResourceDefinition.
func (s subject) schema(t *testing.T) *specgen.Schema {
	t.Helper()
	crds, err := project.ReadCRDs("../../operator/config/crd/bases/" + s.crd)
	if err != nil {
		t.Fatal(err)
	}
	read, err := specgen.New(crds[0], s.Version, specgen.WithExamples("spec.image", s.images.From, s.images.To))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// in is the one resource of a namespace.
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

// TestTransitions changes resources between specs that are generated from the schema. Each time they must end like
// fresh resources.
func TestTransitions(t *testing.T) {
	ways := map[string][]specgen.Transition{} // by kind
	for _, s := range subjects {              // before an operator runs
		all := s.schema(t).Transitions(1, s.transitions)
		admitted, refused, err := specgen.Admitted(t.Context(), plane.Client, s.in("default", nil), all)
		if err != nil {
			t.Fatal(err)
		}
		ways[s.Kind] = thereAndBack(admitted)
		t.Logf("%s: %d transitions on %d ways there and back; the API server refuses %d: %v",
			s.Kind, len(admitted), len(ways[s.Kind]), len(refused), refused)
	}
	tt := newTransitionTest(t)
	t.Run("there and back", func(t *testing.T) { tt.thereAndBack(t, ways) })
	t.Run("bad specs are recovered from", func(t *testing.T) { tt.testRecovery(t, ways) })
	t.Run("refused specs change nothing", tt.testInvalidSpecs)
}

// thereAndBack changes resources from one spec to another and back.
func (tt *transitionTest) thereAndBack(t *testing.T, ways map[string][]specgen.Transition) {
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

// thereAndBack leaves out transitions whose reverse is among them.
func thereAndBack(transitions []specgen.Transition) []specgen.Transition {
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
