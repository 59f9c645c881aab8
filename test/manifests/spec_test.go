package manifests

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/distribution/reference"

	"github.com/operator-assay/assay/test/edits"
)

// contracts are what must be refused and taken of each kind, and a valid resource that is edited.
var contracts = map[string]struct {
	edits.Contract
	valid string
	// longest is how many characters a name may have.
	longest int
}{
	"WebServer": {edits.WebServer, `{"apiVersion":"my.domain/v1","kind":"WebServer","metadata":{"name":"edited","namespace":"default"},
		"spec":{"image":"nginx:1.23.1","replicas":2}}`, 55},
	"Memcached": {edits.Memcached, `{"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached","metadata":{"name":"edited","namespace":"default"},
		"spec":{"image":"memcached:1.6.39-alpine","size":2}}`, 63},
}

// TestTheSchemaRefusesWhatTheOperatorCouldNotServe: without a message that says which field and what to write instead, or with
// none at all, a user would learn it from Pods that never come.
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

// TestTheSchemaTakesWhatIsValidAndSetsItsDefaults has the edges, too, of what is refused.
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

// TestTheSchemaKnowsImagesFromWhatIsNone: as the library does that container runtimes use. The kubelet validates with it, and
// reports InvalidImageName for a Pod. A pattern cannot count the characters of a path, and no registry takes so many; 512 of a
// reference bound the cost of the rule.
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

// TestANameThatCannotNameTheChildrenIsRefused: the Service of a WebServer would be, and be missing.
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
