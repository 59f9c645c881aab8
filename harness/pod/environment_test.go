package pod

import (
	"slices"
	"strings"
	"testing"
)

func TestProcessInheritsOnlyWhatItNeeds(t *testing.T) {
	const loopback = "127.0.0.1,localhost,::1"
	for _, variable := range []string{
		"HTTPS_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY", "no_proxy", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT",
		"AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "WATCH_NAMESPACE", "POD_NAMESPACE", "LOG_LEVEL", "GOFLAGS",
	} {
		t.Setenv(variable, "of-the-shell")
	}
	for _, variable := range []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SSL_CERT_FILE", "GOCOVERDIR"} {
		t.Setenv(variable, "/kept")
	}
	for _, test := range []struct {
		env  []string
		want string
	}{
		{nil, "NO_PROXY=" + loopback + " no_proxy=" + loopback},
		{[]string{"HTTPS_PROXY=http://proxy", "NO_PROXY=.svc", "HOME=/pod"}, "HOME=/pod HTTPS_PROXY=http://proxy NO_PROXY=.svc," + loopback + " no_proxy=.svc," + loopback},
		{[]string{"no_proxy=a", "NO_PROXY=b"}, "NO_PROXY=b," + loopback + " no_proxy=a," + loopback},
	} {
		environment := Container{Env: test.env}.environment()
		for _, variable := range []string{"PATH", "TMPDIR", "LANG", "LC_ALL", "SSL_CERT_FILE", "GOCOVERDIR"} {
			if !slices.Contains(environment, variable+"=/kept") {
				t.Errorf("got no %s, want it inherited", variable)
			}
		}
		environment = slices.DeleteFunc(environment, func(variable string) bool {
			name, value, _ := strings.Cut(variable, "=")
			return value == "/kept" || slices.Contains(inherited, name) && name != "HOME"
		})
		slices.Sort(environment)
		if got := strings.Join(environment, " "); got != test.want {
			t.Errorf("with %q: got %s, want %s", test.env, got, test.want)
		}
	}
}
