package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/pod"
)

// TestAWebhookBesideOutlivesTheOperator runs a fixture whose webhook remembers what it has admitted.
func TestAWebhookBesideOutlivesTheOperator(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if err := pod.Unavailable(); err != nil {
		t.Skip(err)
	}
	ctrl.SetLogger(logr.Discard()) // as main does
	t.Chdir("../../test/fixtures/defaulter")
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // which the command sets
	code, stdout, stderr := assay(t, "explore", "--artifacts", t.TempDir(),
		"--plan", "notice/two crash-after create configmaps - 1")
	if code != exitOK || strings.Contains(stdout, "not called") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stdout, "in all") {
		t.Errorf("the sums are missing:\n%s", stdout)
	}
}
