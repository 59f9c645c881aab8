package edits

import "strings"

var (
	// SHA256 is an image digest.
	SHA256 = "sha256:" + strings.Repeat("0123456789abcdef", 4)
	sha512 = "sha512:" + strings.Repeat("0123456789abcdef", 8)
)

// imageRule contains parts of the error message for an invalid image.
var imageRule = []string{"spec.image", "must be an image reference without blanks, such as nginx:1.23.1"}

// These edits of spec.image apply to both kinds. References tests more image references.
var (
	imageRefusals = []Refusal{
		{"an empty image", `{"spec":{"image":""}}`, imageRule},
		{"a number as image", `{"spec":{"image":1.23}}`, []string{"spec.image", "must be of type string"}},
		{"a blank image", `{"spec":{"image":" "}}`, imageRule},
		{"an image ID", `{"spec":{"image":"` + strings.Repeat("a", 64) + `"}}`, []string{"spec.image", "image's name", "ID"}},
		{"an image of more than 512 characters", `{"spec":{"image":"` + strings.Repeat("a/", 256) + `a"}}`, []string{"spec.image", "512"}},
	}
	imageAcceptances = []Acceptance{
		{"an image of 512 characters", `{"spec":{"image":"` + strings.Repeat("a/", 255) + `aa"}}`, ""},
	}
)

// References contains valid image references of every form, and references that are invalid in exactly one way.
var References = struct{ Good, Bad []string }{
	Good: []string{
		"nginx", "nginx:1.23.1", "nginx:latest", "n", "0", "library/nginx", "team/nginx:1",
		"docker.io/nginx", "docker.io/library/nginx:1.23.1", "index.docker.io/nginx", "localhost/nginx", "localhost",
		"localhost:5000", // name localhost, tag 5000
		"localhost:5000/nginx", "registry.example.com/nginx", "registry.example.com:443/team/nginx:1.23.1",
		"registry.k8s.io/e2e-test-images/agnhost:2.53", "Registry.Example.com/nginx", "REGISTRY/nginx",
		"10.0.0.1/nginx", "10.0.0.1:5000/nginx:1", "[::1]/nginx", "[::1]:5000/nginx:1", "[2001:DB8::1]:5000/a/b@" + SHA256,
		"a/b/c/d/e/f/g", "a_b", "a__b", "a.b", "a-b", "a--b", "a---b/c", "my_team.example/nginx", "xn--n3h.example/nginx",
		"nginx:_1", "nginx:V1.0-RC.1_x", "nginx:" + strings.Repeat("t", 128),
		"nginx@" + SHA256, "nginx@" + sha512, "nginx:1@" + SHA256, "localhost:5000/nginx:1@" + SHA256,
		"nginx@sha384:" + strings.Repeat("0123456789abcdef", 6),
		"sha256:" + strings.Repeat("a", 64), // a name with a tag
		"registry.example.com:0/nginx", "registry.example.com:99999/nginx",
		strings.Repeat("a", 63), strings.Repeat("a", 65), strings.Repeat("a/", 31) + "nginx",
	},
	Bad: []string{
		"", " ", "nginx ", " nginx", "nginx:1 ", "nginx: 1", "nginx 1", "nginx\n", "\tnginx", "nginx\u00a0", "ngïnx", "nginx\x00",
		"Nginx", "team/Nginx", "docker.io/Nginx", "nginx:", "nginx:.1", "nginx:-1", "nginx:1:2", "nginx:1+2", "nginx:" + strings.Repeat("t", 129),
		"nginx@", "nginx@sha256", "nginx@sha256:", "nginx@sha256:abc", "@" + SHA256, ":1", "nginx@" + SHA256 + ":1",
		"nginx@sha256:" + strings.Repeat("0", 63), "nginx@sha256:" + strings.Repeat("0", 65),
		"nginx@sha256:" + strings.Repeat("A", 64), "nginx@sha256:" + strings.Repeat("g", 64), "nginx@sha512:" + strings.Repeat("0", 64),
		"nginx@SHA256:" + strings.Repeat("0", 64), "nginx@md5:" + strings.Repeat("0", 32),
		"http://nginx", "https://registry.example.com/nginx", "docker://nginx", "//nginx", "/nginx", "nginx/", "a//b", "./nginx", "../nginx",
		"registry.example.com/", "registry.example.com:/nginx", "registry.example.com:port/nginx", "-registry.example.com/nginx",
		"user@registry.example.com/nginx", "my_team:5000/nginx",
		"[::1", "[::1]", "[fe80::1%25eth0]/nginx", "[::ffff:192.0.2.1]/nginx", "::1/nginx",
		"-nginx", "nginx-", "_nginx", "a..b", "a___b", "a._b", "a-_b", "nginx?", "nginx*", "$IMAGE", "${IMAGE}", "nginx;id", "nginx,memcached",
		strings.Repeat("a", 64), // an image ID
	},
}
