package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/harness/wait"
	"github.com/operator-assay/assay/operator/controller"
)

const (
	root = "../../.."
	// Names in operator/config/default.
	operatorNamespace = "assay-system"
	operatorAccount   = "assay-controller-manager"
	// stopTimeout is longer than the 30 s for which the manager waits for running reconciles.
	stopTimeout = 40 * time.Second
	// perNamespace is the number of resources per namespace. For each sync of a Deployment, kube-controller-manager
	// processes all ReplicaSets in the namespace. With a single namespace, its work would grow quadratically.
	perNamespace = 1000
)

// resourceKeys returns the keys of the given number of resources. All names have the same length, so that the observer
// can derive the resource from the name of a Pod.
func resourceKeys(count int) []types.NamespacedName {
	var all []types.NamespacedName
	for i := range count {
		all = append(all, types.NamespacedName{Namespace: fmt.Sprintf("bench-%d", i/perNamespace), Name: fmt.Sprintf("resource-%05d", i)})
	}
	return all
}

// env is a new cluster with the operator's CRDs and roles. Its methods fail the test on errors.
type env struct {
	*testing.T
	reporter *report.Report
	ctx      context.Context
	fail     context.CancelCauseFunc // reports a background error, such as a crash of the operator
	keys     []types.NamespacedName  // the measured resources
	cluster  *cluster.Cluster
	user     client.Client // acts as the administrator
	observer *observer
	audit    auditLog
	slots    chan struct{} // limits parallel requests of the user and the ideal client
	ideal    *ideal        // nil if the operator is measured
	pid      int           // of the operator, or 0
}

// must fails the test if err is not nil. It adds the background error that canceled the context, if any.
func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(errors.Join(err, context.Cause(e.ctx)))
	}
}

// newEnv creates a cluster with capacity for 3 Pods per resource. If the test fails, the cluster's logs are saved.
func newEnv(ctx context.Context, t *testing.T, count int) *env {
	const nodes = 10
	timeout := 15*time.Minute + time.Duration(count)*500*time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timeout after %s", timeout))
	ctx, fail := context.WithCancelCause(ctx)
	e := &env{T: t, reporter: report.New(os.Stdout), ctx: ctx, fail: fail, keys: resourceKeys(warmUps + count)[warmUps:], slots: make(chan struct{}, 20), observer: newObserver()}
	var err error
	e.cluster, err = cluster.Open(ctx, cluster.Options{
		Provider: cluster.KWOK, Name: "bench", Nodes: nodes, PodsPerNode: 110 + 3*count/nodes, AuditPolicy: auditPolicy, Progress: e.reporter,
	})
	e.must(err)
	t.Cleanup(func() {
		if t.Failed() {
			err = e.cluster.ExportLogs(ctx, filepath.Join(artifacts, "cluster"))
		}
		cancel()
		if err := errors.Join(err, e.cluster.Close(context.WithoutCancel(ctx), false)); err != nil {
			t.Error(err)
		}
	})
	e.audit.path = e.cluster.AuditLog
	e.user, err = client.New(e.cluster.Config, client.Options{Scheme: controller.Scheme()})
	e.must(err)
	e.install()
	e.must(e.observer.start(ctx, e.cluster.Config))
	return e
}

// install applies the same objects as `make deploy`, except the Deployment, because KWOK cannot run its Pod.
func (e *env) install() {
	namespaces := []string{operatorNamespace}
	for _, key := range append(resourceKeys(warmUps), e.keys...) {
		namespaces = append(namespaces, key.Namespace)
	}
	for _, name := range slices.Compact(namespaces) {
		e.must(e.user.Create(e.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	objects, err := project.Render(root + "/operator/config/default")
	e.must(err)
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			e.must(e.user.Apply(e.ctx, client.ApplyConfigurationFromUnstructured(&object), client.FieldOwner("bench")))
		}
	}
	e.must(wait.For(e.ctx, time.Minute, wait.Poll(50*time.Millisecond), func(ctx context.Context) error { // a new CRD is not served immediately
		return client.IgnoreNotFound(e.user.Get(ctx, e.keys[0], memcached(e.keys[0])))
	}))
}

func (e *env) identity() *rest.Config {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	e.must(e.user.SubResource("token").Create(e.ctx, account, token))
	identity := rest.AnonymousClientConfig(e.cluster.Config)
	identity.BearerToken, identity.QPS = token.Status.Token, -1
	return identity
}

// startOperator runs the operator as its ServiceAccount, with the arguments and the environment variables of its
// manifest. OPERATOR is the path of the binary, which defaults to a build of this repository.
func (e *env) startOperator() {
	program := filepath.Join(artifacts, "operator")
	if os.Getenv("OPERATOR") == "" {
		e.must(project.Build(e.ctx, root, "./operator", program, "", nil))
	}
	kubeconfig := filepath.Join(filepath.Dir(e.cluster.Kubeconfig), "operator.kubeconfig")
	e.must(process.WriteKubeconfig(kubeconfig, e.identity(), ""))
	log, err := os.Create(filepath.Join(artifacts, fmt.Sprintf("operator-%d.log", len(e.keys))))
	e.must(err)
	defer log.Close()
	command := exec.Command(cmp.Or(os.Getenv("OPERATOR"), program), "--kubeconfig="+kubeconfig, "--leader-elect",
		"--leader-election-namespace="+operatorNamespace, "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=0")
	command.Stdout, command.Stderr = log, log
	command.Env = append(os.Environ(), "GOMEMLIMIT=230MiB", "GOGC=50", "GOMAXPROCS=", "GODEBUG=")
	operator, err := process.Start(command)
	e.must(err)
	e.pid = command.Process.Pid
	context.AfterFunc(operator.Context(e.ctx), func() { e.fail(fmt.Errorf("the operator has exited: see %s", log.Name())) })
	e.Cleanup(func() {
		if err := operator.Stop(stopTimeout); err != nil {
			e.Error(err)
		}
	})
}

// memory returns the operator's resident set size in bytes, or 0 if there is no operator or no /proc.
func (e *env) memory() int {
	proc, err := procfs.NewProc(e.pid)
	if err != nil || e.pid == 0 {
		return 0
	}
	stat, _ := proc.Stat() // without it, the resident set size is 0
	return stat.ResidentMemory()
}
