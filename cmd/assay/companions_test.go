package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/pod"
)

func TestWebhookOutlivesOperator(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if err := pod.Unavailable(); err != nil {
		t.Skip(err)
	}
	ctrl.SetLogger(logr.Discard()) // as in main
	t.Chdir("../../test/fixtures/defaulter")
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // restored after the test, because the command sets it
	code, stdout, stderr := assay(t, "explore", "--artifacts", t.TempDir(),
		"--plan", "notice/two crash-after create configmaps - 1")
	if code != exitOK || strings.Contains(stdout, "not called") {
		t.Errorf("got exit code %d:\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stdout, "total ") {
		t.Errorf("got no totals, want them in:\n%s", stdout)
	}
}
