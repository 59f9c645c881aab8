// Package soak runs the operator under faults for a long time. Its test fails if the operator's memory, goroutines,
// watches or requests keep growing, or if objects are left over after all resources have been deleted. The test runs
// the operator binary, which make soak builds, against a real control plane.
package soak

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/record"
	operatorconfig "github.com/operator-assay/assay/operator/config"
	"github.com/operator-assay/assay/operator/controller"
)

const (
	binary       = "../../../bin/soak/manager"
	metricsPort  = 8443
	artifactsDir = "../../../_artifacts/soak" // contains the log of the operator
)

type soak struct {
	plane     *controlplane.ControlPlane
	identity  *rest.Config
	history   *record.History
	injector  *fault.Injector
	namespace string
	resources []resource
	changes   int

	operator, server *http.Client // for the metrics
	token            string

	mu   sync.Mutex
	kill func() // kills the current process
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{"../../../operator/config/crd/bases"}, Scheme: controller.Scheme()})
	noError(t, err)
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &soak{plane: plane, injector: fault.New(fault.Scope{})}
	if s.identity, err = plane.User(t.Context(), controller.Name, operatorconfig.Role); err != nil {
		t.Fatal(err)
	}
	if s.namespace, err = plane.CreateNamespace(t.Context(), "soak"); err != nil {
		t.Fatal(err)
	}
	kinds, err := record.NewResourceLister(plane.Config)
	noError(t, err)
	if s.history, err = kinds.History(t.Context(), plane.Client); err != nil {
		t.Fatal(err)
	}
	if s.server, err = rest.HTTPClientFor(plane.Config); err != nil {
		t.Fatal(err)
	}
	s.createToken(t)
	s.startOperator(t)
	return s
}

func (s *soak) createToken(t *testing.T) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "scraper"}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "scraper"},
		Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: account.Name}}}
	for _, object := range []client.Object{account, role, binding} {
		noError(t, s.plane.Client.Create(t.Context(), object))
	}
	request := &authenticationv1.TokenRequest{}
	noError(t, s.plane.Client.SubResource("token").Create(t.Context(), account, request))
	s.token = request.Status.Token
}

// startOperator runs the operator binary as it would run in its Pod, and restarts it when it exits.
func (s *soak) startOperator(t *testing.T) {
	t.Helper()
	noError(t, os.MkdirAll(artifactsDir, 0o755))
	log, err := os.Create(filepath.Join(artifactsDir, "operator.log"))
	noError(t, err)
	var dial sync.Map // key 0 holds the pod.Dial of the current process
	run := explore.Pod(func(string) pod.Container {
		return pod.Container{Path: binary, Arguments: []string{fmt.Sprintf("--metrics-bind-address=:%d", metricsPort)}, Kubeconfig: true, Namespace: s.namespace,
			Reach: func(way pod.Dial) { dial.Store(0, way) }}
	})
	s.operator = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the certificate is self-signed
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			way, _ := dial.Load(0)
			return way.(pod.Dial)(metricsPort)
		},
	}}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	running.Go(func() {
		for ctx.Err() == nil {
			s.live(ctx, func(ctx context.Context, config *rest.Config) error { return run(ctx, s.namespace, config, log) })
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		_ = log.Close()
	})
}

func (s *soak) live(ctx context.Context, run func(context.Context, *rest.Config) error) {
	config, instance := s.injector.NewInstance(s.identity)
	defer instance.End()
	living, kill := context.WithCancel(ctx)
	defer kill()
	s.mu.Lock()
	s.kill = kill
	s.mu.Unlock()
	go func() {
		select {
		case <-instance.Crashed():
			kill()
		case <-living.Done():
		}
	}()
	_ = run(living, config) // the log shows failures, and the operator does not become idle
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
