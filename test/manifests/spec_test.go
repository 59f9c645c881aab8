package manifests

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/distribution/reference"

	"github.com/operator-assay/assay/test/edits"
)

// contracts contains a valid resource of each kind, and the edits of that resource that must be rejected and
// accepted.
var contracts = map[string]struct {
	edits.Contract
	valid string
	// longest is the maximum length of a name.
	longest int
}{
	"WebServer": {edits.WebServer, `{"apiVersion":"my.domain/v1","kind":"WebServer","metadata":{"name":"edited","namespace":"default"},
		"spec":{"image":"nginx:1.23.1","replicas":2}}`, 55},
	"Memcached": {edits.Memcached, `{"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached","metadata":{"name":"edited","namespace":"default"},
		"spec":{"image":"memcached:1.6.39-alpine","size":2}}`, 63},
}

// Without a helpful message from the API server, users would only notice the mistake because their Pods are missing.
func TestTheSchemaRefusesWhatTheOperatorCouldNotServe(t *testing.T) {
	for name, c := range contracts {
		k := served(t, name)
		for _, r := range c.Refusals {
			t.Run(name+" with "+r.What, func(t *testing.T) {
				refused(t, k.judge(edited(t, parsed(t, c.valid), r.Edit), nil), r.Says...)
			})
		}
	}
}

// TestTheSchemaTakesWhatIsValidAndSetsItsDefaults includes the limits of the valid values.
func TestTheSchemaTakesWhatIsValidAndSetsItsDefaults(t *testing.T) {
	for name, c := range contracts {
		k := served(t, name)
		for _, a := range c.Acceptances {
			t.Run(name+" with "+a.What, func(t *testing.T) {
				object := edited(t, parsed(t, c.valid), a.Edit)
				noError(t, k.judge(object, nil))
				inForce := a.Edit
				if a.Stored != "" {
					inForce = a.Stored
				}
				if again := edited(t, object, inForce); !reflect.DeepEqual(object, again) {
					t.Errorf("stored is %v, want %v", object["spec"], again["spec"])
				}
			})
		}
	}
}

// TestTheSchemaKnowsImagesFromWhatIsNone compares the schema with the library that container runtimes use. The
// kubelet also validates images with that library and reports InvalidImageName. A pattern cannot limit the length of
// a path, but no registry accepts such long paths. The limit of 512 characters for a reference limits the cost of the
// rule.
func TestTheSchemaKnowsImagesFromWhatIsNone(t *testing.T) {
	for name, c := range contracts {
		k := served(t, name)
		judge := func(image string) error {
			object := parsed(t, c.valid)
			object["spec"].(map[string]any)["image"] = image
			return k.judge(object, nil)
		}
		long, longest := strings.Repeat("a", 256), "registry."+strings.Repeat("example.", 55)+"com/nginx@"+edits.SHA256
		for _, image := range append(edits.References.Good, long) {
			if err := judge(image); err != nil {
				t.Errorf("%s refuses %q: %v", name, image, err)
			}
			if _, err := reference.ParseNormalizedNamed(image); (err == nil) == (image == long) {
				t.Errorf("the library of %q: %v", image, err)
			}
		}
		for _, image := range append(edits.References.Bad, longest) {
			refused(t, judge(image), "spec.image")
			if _, err := reference.ParseNormalizedNamed(image); (err == nil) != (image == longest) {
				t.Errorf("the library of %q: %v", image, err)
			}
		}
	}
}

// Otherwise the API server would reject the Service of a WebServer with a long name.
func TestANameThatCannotNameTheChildrenIsRefused(t *testing.T) {
	for name, c := range contracts {
		k := served(t, name)
		says := fmt.Sprintf("metadata.name must have at most %d characters", c.longest)
		judge := func(named string) error {
			return k.judge(edited(t, parsed(t, c.valid), fmt.Sprintf(`{"metadata":{"name":%q}}`, named)), nil)
		}
		for _, bad := range []string{strings.Repeat("a", c.longest+1), "my.name", "a-", "-a", "A"} {
			refused(t, judge(bad), says)
		}
		for _, good := range []string{strings.Repeat("a", c.longest), "a", "a-0--1"} {
			if err := judge(good); err != nil {
				t.Errorf("%s refuses the name %q: %v", name, good, err)
			}
		}
		if taken := judge("1") == nil; taken != (name == "Memcached") {
			t.Errorf("%s takes a number as its name: %t; a Service cannot have one", name, taken)
		}
	}
}
