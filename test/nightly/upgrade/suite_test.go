// Package upgrade tests that an operator release takes over the resources of another release after an upgrade or a
// downgrade. The operators run as local processes against a real API server, etcd and kube-controller-manager. make
// test-upgrade builds the previous release.
package upgrade

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

const artifactsDir = "../../../_artifacts/upgrade"

// release is an operator release in a directory created by scripts/previous.sh.
type release struct{ name, folder string }

// cluster is a control plane with at most one running operator release.
type cluster struct {
	*controlplane.ControlPlane
	history *record.History
	running *process.Process
	log     *os.File
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Scheme: controller.Scheme()})
	noError(t, err)
	c := &cluster{ControlPlane: plane}
	t.Cleanup(func() {
		c.stopRelease(t)
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// install installs the CRDs and the role of a release, and starts its operator in place of the current one.
func (c *cluster) install(t *testing.T, r release) {
	t.Helper()
	c.stopRelease(t)
	_, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{Paths: []string{filepath.Join(r.folder, "crds")}, ErrorIfPathMissing: true})
	noError(t, err)
	role, err := os.ReadFile(filepath.Join(r.folder, "role.yaml"))
	noError(t, err)
	identity, err := c.User(t.Context(), controller.Name, role)
	noError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	noError(t, process.WriteKubeconfig(kubeconfig, identity, ""))
	noError(t, os.MkdirAll(artifactsDir, 0o755))
	if c.log, err = os.OpenFile(filepath.Join(artifactsDir, r.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(filepath.Join(r.folder, "manager"), "--kubeconfig="+kubeconfig, "--health-probe-bind-address=0")
	command.Stdout, command.Stderr = c.log, c.log
	if c.running, err = process.Start(command); err != nil {
		t.Fatal(err)
	}
	if c.history == nil { // create this after the CRDs, so that it includes their kinds
		resources, err := record.NewResourceLister(c.Config)
		noError(t, err)
		if c.history, err = resources.History(t.Context(), c.Client); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *cluster) stopRelease(t *testing.T) {
	t.Helper()
	if c.running == nil {
		return
	}
	if err := c.running.Stop(timeout); err != nil {
		t.Error(err)
	}
	if state := c.running.State(); !state.Success() {
		t.Errorf("%s: %s", c.log.Name(), state)
	}
	c.running = nil
	if err := c.log.Close(); err != nil {
		t.Error(err)
	}
}

type resource struct {
	scenario, namespace string
	identities          string
}

// makeResources runs all scenarios in parallel, except the delete scenarios, which leave no resource.
func (c *cluster) makeResources(t *testing.T) (made []resource) {
	t.Helper()
	all := slices.DeleteFunc(scenarios.All(), func(s scenario.Scenario) bool { return strings.HasSuffix(s.Name, "/delete") })
	namespaces, errs := make([]string, len(all)), make([]error, len(all))
	var playing sync.WaitGroup
	for i, s := range all {
		playing.Go(func() { namespaces[i], errs[i] = c.play(t.Context(), s) })
	}
	playing.Wait()
	noError(t, errors.Join(errs...))
	for i, s := range all {
		made = append(made, resource{s.Name, namespaces[i], c.identities(t, namespaces[i])})
	}
	return made
}

// play runs a scenario in a new namespace, waits until its objects stop changing, and returns the namespace.
func (c *cluster) play(ctx context.Context, s scenario.Scenario) (namespace string, err error) {
	if namespace, err = c.CreateNamespace(ctx, "upgrade"); err != nil {
		return "", err
	}
	env := &scenario.Env{Client: c.Client, Namespace: namespace, StepTimeout: timeout, History: c.history}
	if err := s.Run(ctx, env, nil); err != nil {
		return "", err
	}
	return namespace, c.waitStable(ctx, namespace)
}

func (c *cluster) waitStable(ctx context.Context, namespaces ...string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	errs := make([]error, len(namespaces))
	var waiting sync.WaitGroup
	for i, namespace := range namespaces {
		waiting.Go(func() { errs[i] = c.history.WaitStable(ctx, namespace, stableFor) })
	}
	waiting.Wait()
	return errors.Join(errs...)
}

func list[L client.ObjectList](t *testing.T, c *cluster, namespace string, into L) L {
	t.Helper()
	noError(t, c.Client.List(t.Context(), into, client.InNamespace(namespace)))
	return into
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
