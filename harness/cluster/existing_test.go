package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func apiServer(t *testing.T) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.4"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// usersKubeconfig writes a kubeconfig with four contexts. The staging server is available, and its client certificate
// is in a file. The production server is unavailable. The other two contexts are incomplete.
func usersKubeconfig(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "config")
	content := `apiVersion: v1
kind: Config
current-context: production
clusters:
- {name: up, cluster: {server: "` + apiServer(t) + `"}}
- {name: down, cluster: {server: "http://127.0.0.1:1"}}
- {name: bare, cluster: {server: "http://127.0.0.1:1", certificate-authority: missing.crt}}
users:
- {name: me, user: {tokenFile: token, client-certificate: me.crt, client-key: me.crt}}
- {name: root, user: {token: secret}}
contexts:
- {name: staging, context: {cluster: up, user: me}}
- {name: production, context: {cluster: down, user: root}}
- {name: half, context: {cluster: bare, user: root}}
- {name: dangling, context: {cluster: gone, user: root}}
`
	for name, text := range map[string]string{path: content, filepath.Join(dir, "me.crt"): "certificate"} {
		noError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	t.Setenv("KUBECONFIG", path)
	return path
}

func TestExistingClusterHasPrivateKubeconfig(t *testing.T) {
	clusters := own(t)
	users := usersKubeconfig(t)
	before, err := os.ReadFile(users)
	noError(t, err)
	c, err := Open(t.Context(), Options{Provider: Existing, Context: "staging"})
	noError(t, err)
	if c.Version != "v1.36.4" || !c.Reused || c.Name != "existing" {
		t.Errorf("got cluster %+v, want existing, v1.36.4, reused", c)
	}
	private, err := clientcmd.LoadFromFile(c.Kubeconfig)
	noError(t, err)
	if len(private.Contexts) != 1 || len(private.Clusters) != 1 || private.CurrentContext != "staging" || private.AuthInfos["root"] != nil {
		t.Errorf("got private kubeconfig %+v, want only the context staging", private)
	}
	if got := string(private.AuthInfos["me"].ClientCertificateData); got != "certificate" {
		t.Errorf("client certificate in the private kubeconfig: got %q, want %q", got, "certificate")
	}
	if info, err := os.Stat(c.Kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %v (error %v), want no permissions for others", info.Mode(), err)
	}
	expectRefusal(t, c.Load(t.Context(), "x.tar"), "registry")
	if err := c.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(users); err != nil || !slices.Equal(before, after) {
		t.Errorf("the user's kubeconfig has changed (error %v)", err)
	}
	expectNothing(t, clusters)
}

// TestExistingClusterIsOpenedFromItsKubeconfig opens the cluster again with KUBECONFIG set to the private kubeconfig,
// as in a shell that has evaluated the output of assay cluster up.
func TestExistingClusterIsOpenedFromItsKubeconfig(t *testing.T) {
	own(t)
	usersKubeconfig(t)
	for range 2 {
		c, err := Open(t.Context(), Options{Provider: Existing, Context: "staging"})
		noError(t, err)
		noError(t, c.Close(t.Context(), true))
		t.Setenv("KUBECONFIG", c.Kubeconfig)
		_, err = Open(t.Context(), Options{Provider: Existing, Context: "stagin"})
		expectRefusal(t, err, `invalid --context (E2E_CONTEXT) "stagin"`)
	}
}

func TestExistingClusterChangesContext(t *testing.T) {
	clusters := own(t)
	users := usersKubeconfig(t)
	content, err := os.ReadFile(users)
	noError(t, err)
	second := strings.ReplaceAll(string(content), "name: staging", "name: testing")
	noError(t, os.WriteFile(users+"2", []byte(second), 0o600))
	t.Setenv("KUBECONFIG", users+string(os.PathListSeparator)+users+"2")
	for _, name := range []string{"staging", "testing"} {
		c, err := Open(t.Context(), Options{Provider: Existing, Context: name})
		noError(t, err)
		noError(t, c.Close(t.Context(), true))
		if private, err := clientcmd.LoadFromFile(c.Kubeconfig); err != nil || private.CurrentContext != name {
			t.Errorf("got private kubeconfig %+v (error %v), want context %s", private, err, name)
		}
	}
	if err := Delete(t.Context(), Options{Provider: Existing}); err != nil {
		t.Error(err)
	}
	expectNothing(t, clusters)
}

func TestContextErrors(t *testing.T) {
	for says, test := range map[string]struct{ context, kubeconfig string }{
		`invalid --context (E2E_CONTEXT) "": set it to a context in `: {},
		`: dangling, half, production, staging`:                       {context: "moon"},
		`the API server is not available: Get "http://127.0.0.1:1`:    {context: "production"},
		"missing.crt":                {context: "half"},
		"cannot locate cluster gone": {context: "dangling"},
		"kubeconfig /missing does not exist: set KUBECONFIG":                 {context: "staging", kubeconfig: "/missing"},
		"kubeconfig /dev/null has no context: add one, or set KUBECONFIG to": {context: "staging", kubeconfig: "/dev/null"},
		"cannot read the kubeconfig":                                         {context: "staging", kubeconfig: "malformed"},
	} {
		t.Run(says, func(t *testing.T) {
			clusters := own(t)
			usersKubeconfig(t)
			if test.kubeconfig != "" {
				t.Setenv("KUBECONFIG", test.kubeconfig)
			}
			if test.kubeconfig == "malformed" {
				file := filepath.Join(t.TempDir(), "config")
				noError(t, os.WriteFile(file, []byte("{{{"), 0o600))
				t.Setenv("KUBECONFIG", file)
			}
			_, err := Open(t.Context(), Options{Provider: Existing, Context: test.context})
			expectRefusal(t, err, says)
			expectNothing(t, clusters)
		})
	}
}
