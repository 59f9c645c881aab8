package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/process"
)

// Limits for one process, generous because a shared CI machine may be ten times slower than a laptop.
const (
	startTimeout = time.Minute
	stopTimeout  = 20 * time.Second
)

// advertiseAddress is what API servers advertise. The default is the address of the host's default route, which a laptop
// that is offline does not have. Loopback is not allowed in the endpoints of the Service kubernetes, so it is an address
// that is reserved for documentation.
const advertiseAddress = "192.0.2.1"

// Options configure a control plane. The zero value is a plain Kubernetes.
type Options struct {
	// CRDs are YAML files, or folders of them, with CustomResourceDefinitions to install. A path that does not exist
	// is an error.
	CRDs []string
	// Definitions are those to install that are in no file.
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Scheme is that of Client; by default that of client-go.
	Scheme *runtime.Scheme
	// LogsDir receives etcd.log, kube-apiserver.log and kube-controller-manager.log, and keeps them after Stop. By
	// default they go to a temporary folder.
	LogsDir string
	// UseReserve makes Start take over a control plane that Reserve keeps ready, if there is one that works.
	UseReserve bool
}

// ControlPlane is a running etcd, kube-apiserver, kube-controller-manager, fake nodes and a fake cloud.
type ControlPlane struct {
	// Config is the cluster administrator's, without a client-side rate limit.
	Config *rest.Config
	// Client acts as the administrator, with strict field validation: a misspelt field is an error.
	Client client.WithWatch
	// LogsDir holds the three processes' logs while they run.
	LogsDir string

	options   Options
	binaries  string // their folder
	dir       string // everything temporary
	isTaken   bool   // from the reserve
	crds      envtest.CRDInstallOptions
	envtest   envtest.ControlPlane
	logs      map[string]*os.File // by process
	watchdog  *process.Watchdog
	manager   *process.Process
	kubelet   *kubelet
	nodes     *fakeNodes
	cloud     *fakeCloud
	clientset kubernetes.Interface
	stop      func() error
}

// Start starts a control plane that serves the CRDs and turns a Deployment into ready Pods. The binaries come from
// package binaries, which looks into KUBEBUILDER_ASSETS first.
//
// ctx bounds the start alone, so that of a Ginkgo setup node can be used; Stop ends the control plane. If ctx ends
// early or a part does not start, nothing is left behind, and the error says in one line which part failed and the
// last error in its log.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	cp := &ControlPlane{options: options, logs: map[string]*os.File{}}
	cp.stop = sync.OnceValue(cp.tearDown)
	err := runSteps(ctx,
		cp.readCRDs,
		cp.findBinaries,
		cp.takeOrStartServers,
		cp.connect,
		cp.installCRDs, // before the controller-manager, whose garbage collector discovers kinds every 30 s
		cp.startControllerManager,
		cp.startNodes, // and the cloud
	)
	if err != nil {
		_ = cp.Stop() // the first error is the cause
		return nil, err
	}
	return cp, nil
}

// Stop stops the fake nodes and kills kube-controller-manager, kube-apiserver and etcd: an orderly end would wait for
// every client that still watches, and their data is temporary. It removes every temporary file. The error names each
// process that had exited before, with the last error in its log. Further calls return the same.
func (cp *ControlPlane) Stop() error {
	return cp.stop()
}

// readCRDs runs first, so that a mistyped path fails before anything starts.
func (cp *ControlPlane) readCRDs(context.Context) error {
	read := envtest.CRDInstallOptions{Paths: cp.options.CRDs, ErrorIfPathMissing: true}
	for _, crd := range cp.options.Definitions {
		read.CRDs = append(read.CRDs, crd.DeepCopy()) // which envtest changes
	}
	if err := envtest.ReadCRDFiles(&read); err != nil {
		return fmt.Errorf("reading CRDs: %w", err)
	}
	cp.crds = envtest.CRDInstallOptions{
		Scheme:       cp.options.Scheme,
		CRDs:         read.CRDs,
		MaxTime:      startTimeout,
		PollInterval: 10 * time.Millisecond,
	}
	return nil
}

func (cp *ControlPlane) findBinaries(ctx context.Context) (err error) {
	cp.binaries, err = binaries.Ensure(ctx, "", os.Stderr, Binaries...)
	return err
}

// startServers starts etcd and kube-apiserver.
func (cp *ControlPlane) startServers(ctx context.Context) error {
	return runSteps(ctx, cp.prepare, cp.startEtcd, cp.startAPIServer)
}

// runSteps runs steps until one fails or ctx ends.
func runSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (cp *ControlPlane) prepare(context.Context) (err error) {
	if cp.dir, err = os.MkdirTemp("", "assay-control-plane-"); err != nil {
		return err
	}
	if cp.watchdog, err = process.Watch(cp.dir); err != nil {
		return err
	}
	cp.LogsDir = cmp.Or(cp.options.LogsDir, filepath.Join(cp.dir, "logs"))
	for _, folder := range []string{cp.LogsDir, cp.dataDir(etcd), cp.dataDir(apiServer)} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	return wrapBinaries(cp.binaries, cp.dir)
}

func (cp *ControlPlane) startEtcd(context.Context) error {
	if cp.envtest.Etcd == nil {
		log, err := cp.openLog(etcd)
		if err != nil {
			return err
		}
		cp.envtest.Etcd = &envtest.Etcd{
			Path:         filepath.Join(cp.dir, etcd),
			DataDir:      cp.dataDir(etcd),
			Out:          log,
			Err:          log,
			StartTimeout: startTimeout,
		}
	}
	if err := cp.envtest.Etcd.Start(); err != nil {
		return cp.startError(etcd, err)
	}
	return nil
}

func (cp *ControlPlane) startAPIServer(context.Context) error {
	if cp.envtest.APIServer == nil {
		if err := cp.configureAPIServer(); err != nil {
			return err
		}
	}
	if err := cp.envtest.APIServer.Start(); err != nil {
		return cp.startError(apiServer, err)
	}
	return nil
}

func (cp *ControlPlane) configureAPIServer() error {
	log, err := cp.openLog(apiServer)
	if err != nil {
		return err
	}
	policy := filepath.Join(cp.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	server := &envtest.APIServer{
		Path:         filepath.Join(cp.dir, apiServer),
		CertDir:      cp.dataDir(apiServer),
		EtcdURL:      cp.envtest.Etcd.URL,
		Out:          log,
		Err:          log,
		StartTimeout: startTimeout,
	}
	if server.Authn, err = newAuthority(cp.dataDir(apiServer)); err != nil {
		return err
	}
	// envtest disables the admission plugin ServiceAccount because it has no controller that creates the default ones.
	// Here the controller-manager does.
	server.Configure().
		Set("advertise-address", advertiseAddress).
		Set("disable-admission-plugins", "TaintNodesByCondition"). // nothing here would remove the taint of a new Node
		Set("kubelet-preferred-address-types", string(kubeletAddressType)).
		Set("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("service-cluster-ip-range", "10.0.0.0/16"). // envtest's has room for 254 Services
		Set("enable-priority-and-fairness", "false").   // a test shares the API server with nobody
		Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(cp.LogsDir, auditLog))
	cp.envtest.APIServer = server
	return nil
}

func (cp *ControlPlane) connect(context.Context) error {
	admin, err := cp.authenticate("admin", "system:masters")
	if err != nil {
		return err
	}
	cp.Config = admin
	if cp.clientset, err = kubernetes.NewForConfig(admin); err != nil {
		return err
	}
	cp.Client, err = client.NewWithWatch(admin, client.Options{
		Scheme:          cmp.Or(cp.options.Scheme, scheme.Scheme),
		FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

func (cp *ControlPlane) installCRDs(context.Context) error {
	_, err := envtest.InstallCRDs(cp.Config, cp.crds)
	return err
}

func (cp *ControlPlane) startNodes(ctx context.Context) (err error) {
	var port int32
	if cp.kubelet, port, err = serveKubelet(cp.clientset, cp.dataDir(apiServer)); err != nil {
		return fmt.Errorf("serving as a kubelet: %w", err)
	}
	if cp.nodes, err = newFakeNodes(ctx, cp.clientset, port); err != nil {
		return fmt.Errorf("creating the nodes: %w", err)
	}
	cp.nodes.start(ctx)
	cp.cloud = &fakeCloud{clientset: cp.clientset}
	cp.cloud.start(ctx)
	return nil
}

func (cp *ControlPlane) tearDown() error {
	errs := []error{cp.exited()}
	if cp.cloud != nil {
		cp.cloud.stop()
	}
	if cp.nodes != nil {
		cp.nodes.stop()
	}
	if cp.kubelet != nil {
		errs = append(errs, cp.kubelet.Close())
	}
	errs = append(errs, cp.kill(context.Background()))
	for _, log := range cp.logs {
		errs = append(errs, log.Close())
	}
	if cp.dir != "" {
		errs = append(errs, os.RemoveAll(cp.dir))
	}
	if cp.watchdog != nil {
		errs = append(errs, cp.watchdog.Stop())
	}
	return errors.Join(errs...)
}
