package explore

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/controlplane"
)

const role = `
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: copier}
rules:
- {apiGroups: [""], resources: [configmaps, secrets, services], verbs: [get, list, watch, create, patch, update]}
- {apiGroups: [""], resources: [secrets], verbs: [delete]}
- {apiGroups: [""], resources: [configmaps/finalizers, services/status], verbs: [update]}
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create]}
- {apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [create, patch]}
`

// All tests share one control plane and one identity for the operator.
var (
	plane    *controlplane.ControlPlane
	identity *rest.Config
)

var startPlane = sync.OnceValue(func() error {
	begin := time.Now()
	var err error
	if plane, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil {
		return err
	}
	brief = max(brief, time.Since(begin))
	identity, err = plane.User(context.Background(), "copier", []byte(role))
	return err
})

// needsControlPlane starts the control plane if it is not running. It skips the test if -short is set.
func needsControlPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if err := startPlane(); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		klog.SetLogger(logr.Discard()) // client libraries log failed requests
		ctrl.SetLogger(logr.Discard())
		// The tests mostly wait for operators, so run many of them in parallel unless -parallel is set.
		err := flag.Set("test.parallel", strconv.Itoa(8*runtime.GOMAXPROCS(0)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() {
			if plane == nil {
				return
			}
			if err := plane.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
		return m.Run()
	}())
}
