package process_test

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operator-assay/assay/harness/process"
)

// Clients append paths such as /openapi/v2 to the server URL, and the API server returns 404 for a double slash.
func TestKubeconfigServerHasNoTrailingSlash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := process.WriteKubeconfig(path, &rest.Config{Host: "https://127.0.0.1:6443/"}, ""); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://127.0.0.1:6443"; config.Host != want {
		t.Errorf("got server %q, want %q", config.Host, want)
	}
}
