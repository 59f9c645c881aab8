package scenarioyaml_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/scenario"
)

// plane is the control plane shared by all tests. Each test uses its own namespace. The tests do not start an operator:
// their scenarios use Deployments, which the kube-controller-manager reconciles.
var plane *controlplane.ControlPlane

var startPlane = sync.OnceValue(func() (err error) {
	plane, err = controlplane.Start(context.Background(), controlplane.Options{})
	return err
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // discard the logs of libraries
	code := m.Run()
	if plane != nil {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func needControlPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	noError(t, startPlane())
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newEnv(t *testing.T, patience time.Duration) *scenario.Env {
	t.Helper()
	needControlPlane(t)
	namespace, err := plane.CreateNamespace(t.Context(), "scenario")
	noError(t, err)
	return &scenario.Env{Client: plane.Client, Config: plane.Config, Namespace: namespace, StepTimeout: patience}
}
