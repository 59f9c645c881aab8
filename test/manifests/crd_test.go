package manifests

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/distribution/reference"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// CEL and Go use the same regular expression syntax.
var matches = regexp.MustCompile(`^(!?)self\.matches\('(.*)'\)$`)

// TestImageRuleAgreesWithContainerRuntimes compares the rules for images with the library that container runtimes use.
// The kubelet also validates images with that library and reports InvalidImageName.
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
		for want, images := range map[bool][]string{true: validImages, false: invalidImages} {
			for _, image := range images {
				_, err := reference.ParseNormalizedNamed(image)
				if got := accepts(image); got != want || (err == nil) != want {
					t.Errorf("%s, image %q: got accepted=%t from the CRD and error %v from the library, want accepted=%t", crd.Name, image, got, err, want)
				}
			}
		}
	}
}

var (
	sha256 = "sha256:" + strings.Repeat("0123456789abcdef", 4)
	sha512 = "sha512:" + strings.Repeat("0123456789abcdef", 8)
)

// validImages contains image references of every form.
var validImages = []string{
	"nginx", "nginx:1.23.1", "nginx:latest", "n", "0", "library/nginx", "team/nginx:1",
	"docker.io/nginx", "docker.io/library/nginx:1.23.1", "index.docker.io/nginx", "localhost/nginx", "localhost",
	"localhost:5000", // name localhost, tag 5000
	"localhost:5000/nginx", "registry.example.com/nginx", "registry.example.com:443/team/nginx:1.23.1",
	"registry.k8s.io/e2e-test-images/agnhost:2.53", "Registry.Example.com/nginx", "REGISTRY/nginx",
	"10.0.0.1/nginx", "10.0.0.1:5000/nginx:1", "[::1]/nginx", "[::1]:5000/nginx:1", "[2001:DB8::1]:5000/a/b@" + sha256,
	"a/b/c/d/e/f/g", "a_b", "a__b", "a.b", "a-b", "a--b", "a---b/c", "my_team.example/nginx", "xn--n3h.example/nginx",
	"nginx:_1", "nginx:V1.0-RC.1_x", "nginx:" + strings.Repeat("t", 128),
	"nginx@" + sha256, "nginx@" + sha512, "nginx:1@" + sha256, "localhost:5000/nginx:1@" + sha256,
	"nginx@sha384:" + strings.Repeat("0123456789abcdef", 6),
	"sha256:" + strings.Repeat("a", 64), // a name with a tag
	"registry.example.com:0/nginx", "registry.example.com:99999/nginx",
	strings.Repeat("a", 63), strings.Repeat("a", 65), strings.Repeat("a/", 31) + "nginx",
}

// invalidImages contains references that are invalid in exactly one way.
var invalidImages = []string{
	"", " ", "nginx ", " nginx", "nginx:1 ", "nginx: 1", "nginx 1", "nginx\n", "\tnginx", "nginx\u00a0", "ngïnx", "nginx\x00",
	"Nginx", "team/Nginx", "docker.io/Nginx", "nginx:", "nginx:.1", "nginx:-1", "nginx:1:2", "nginx:1+2", "nginx:" + strings.Repeat("t", 129),
	"nginx@", "nginx@sha256", "nginx@sha256:", "nginx@sha256:abc", "@" + sha256, ":1", "nginx@" + sha256 + ":1",
	"nginx@sha256:" + strings.Repeat("0", 63), "nginx@sha256:" + strings.Repeat("0", 65),
	"nginx@sha256:" + strings.Repeat("A", 64), "nginx@sha256:" + strings.Repeat("g", 64), "nginx@sha512:" + strings.Repeat("0", 64),
	"nginx@SHA256:" + strings.Repeat("0", 64), "nginx@md5:" + strings.Repeat("0", 32),
	"http://nginx", "https://registry.example.com/nginx", "docker://nginx", "//nginx", "/nginx", "nginx/", "a//b", "./nginx", "../nginx",
	"registry.example.com/", "registry.example.com:/nginx", "registry.example.com:port/nginx", "-registry.example.com/nginx",
	"user@registry.example.com/nginx", "my_team:5000/nginx",
	"[::1", "[::1]", "[fe80::1%25eth0]/nginx", "[::ffff:192.0.2.1]/nginx", "::1/nginx",
	"-nginx", "nginx-", "_nginx", "a..b", "a___b", "a._b", "a-_b", "nginx?", "nginx*", "$IMAGE", "${IMAGE}", "nginx;id", "nginx,memcached",
	strings.Repeat("a", 64), // an image ID
}
