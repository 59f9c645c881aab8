package manifests

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/distribution/reference"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operator-assay/assay/test/edits"
)

// CEL and Go use the same regular expression syntax.
var matches = regexp.MustCompile(`^(!?)self\.matches\('(.*)'\)$`)

// TestImageRuleAgreesWithContainerRuntimes compares the rules for images with the library that container runtimes use. The
// kubelet also validates images with that library and reports InvalidImageName.
func TestImageRuleAgreesWithContainerRuntimes(t *testing.T) {
	for _, crd := range installed[apiextensionsv1.CustomResourceDefinition](t, "CustomResourceDefinition") {
		rules := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["image"].XValidations
		accepts := func(image string) bool {
			for _, rule := range rules {
				found := matches.FindStringSubmatch(rule.Rule)
				if found == nil {
					t.Fatalf("%s: cannot parse the rule %s", crd.Name, rule.Rule)
				}
				pattern, err := strconv.Unquote(`"` + found[2] + `"`)
				noError(t, err)
				if regexp.MustCompile(pattern).MatchString(image) == (found[1] == "!") {
					return false
				}
			}
			return len(rules) > 0
		}
		for want, images := range map[bool][]string{true: edits.References.Good, false: edits.References.Bad} {
			for _, image := range images {
				_, err := reference.ParseNormalizedNamed(image)
				if got := accepts(image); got != want || (err == nil) != want {
					t.Errorf("%s, image %q: got accepted=%t, and from the library %v, want accepted=%t", crd.Name, image, got, err, want)
				}
			}
		}
	}
}
