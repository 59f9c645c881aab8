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
	"github.com/operator-assay/assay/harness/project"
)

// Timeouts for a single process. They are long because a shared CI machine can be ten times slower than a laptop.
const (
	startTimeout = time.Minute
	stopTimeout  = 20 * time.Second
)

// advertiseAddress is the address that the API server advertises. By default, the API server derives it from the host's
// default route, which does not exist on an offline laptop. The endpoints of the kubernetes Service must not contain a
// loopback address, so use an address that is reserved for documentation.
const advertiseAddress = "192.0.2.1"

// Options configure a control plane. The zero value starts a control plane without CRDs.
type Options struct {
	// CRDs are the paths of the CustomResourceDefinitions to install. A path names a YAML file, a directory with YAML
	// files, or a kustomization. Start returns an error if a path does not exist.
	CRDs        []string
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Scheme is the scheme of Client. Defaults to the client-go scheme.
	Scheme *runtime.Scheme
	// LogsDir is the directory for etcd.log, kube-apiserver.log and kube-controller-manager.log. Stop does not remove
	// it. Defaults to a temporary directory.
	LogsDir string
	// UseReserve makes Start take over a usable control plane from Reserve, if there is one.
	UseReserve bool
}

// ControlPlane is a running etcd, kube-apiserver and kube-controller-manager, with fake nodes.
type ControlPlane struct {
	// Config authenticates as a cluster administrator and has no client-side rate limit.
	Config *rest.Config
	// Client acts as the administrator. It uses strict field validation, so that a misspelled field is an error.
	Client client.WithWatch
	// LogsDir contains the logs of the three processes while they run.
	LogsDir string

	options   Options
	binaries  string // the directory with the executables
	dir       string // the directory for temporary files
	isTaken   bool   // whether the servers come from the reserve
	crds      envtest.CRDInstallOptions
	envtest   envtest.ControlPlane
	logs      map[string]*os.File // by process name
	watchdog  *process.Watchdog
	manager   *process.Process
	kubelet   *kubelet
	nodes     *fakeNodes
	clientset kubernetes.Interface
	stop      func() error
}

// Start starts a control plane that serves the CRDs and creates ready Pods for a Deployment. It gets the executables
// from package binaries, which looks in KUBEBUILDER_ASSETS first.
//
// ctx bounds only the startup, so the context of a Ginkgo setup node can be used. The control plane runs until Stop is
// called. If ctx is done during startup or a component fails to start, Start removes everything that it has created.
// The error is a single line that names the failed component and includes the last error in its log.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	cp := &ControlPlane{options: options, logs: map[string]*os.File{}}
	cp.stop = sync.OnceValue(cp.tearDown)
	err := runSteps(ctx,
		cp.readCRDs,
		cp.findBinaries,
		cp.takeOrStartServers,
		cp.connect,
		cp.installCRDs, // before the controller-manager, because its garbage collector discovers new kinds only every 30s
		cp.startControllerManager,
		cp.startNodes,
	)
	if err != nil {
		_ = cp.Stop() // return the first error, which is the cause
		return nil, err
	}
	return cp, nil
}

// Stop stops the fake nodes and kills kube-controller-manager, kube-apiserver and etcd. It does not shut them down
// gracefully, because they would wait for every open watch and their data is temporary. It also removes all temporary
// files. The error names each process that had already exited and includes the last error in its log. Later calls
// return the same error.
func (cp *ControlPlane) Stop() error {
	return cp.stop()
}

// readCRDs runs first, so that Start fails on a wrong path before it starts any process.
func (cp *ControlPlane) readCRDs(context.Context) error {
	crds, err := project.ReadCRDs(cp.options.CRDs...)
	if err != nil {
		return fmt.Errorf("cannot read the CRDs: %w", err)
	}
	for _, crd := range cp.options.Definitions {
		crds = append(crds, crd.DeepCopy()) // envtest modifies the CRDs
	}
	cp.crds = envtest.CRDInstallOptions{
		Scheme:       cp.options.Scheme,
		CRDs:         crds,
		MaxTime:      startTimeout,
		PollInterval: 10 * time.Millisecond,
	}
	return nil
}

func (cp *ControlPlane) findBinaries(ctx context.Context) (err error) {
	cp.binaries, err = binaries.Ensure(ctx, "", os.Stderr, Binaries...)
	return err
}

func (cp *ControlPlane) startServers(ctx context.Context) error {
	return runSteps(ctx, cp.prepare, cp.startEtcd, cp.startAPIServer)
}

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
	if cp.dir, err = process.MakeTempDir("assay-control-plane-"); err != nil {
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
		// etcd waits for the election timeout before it elects its only member.
		cp.envtest.Etcd.Configure().Set("election-timeout", "300").Set("heartbeat-interval", "30")
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
	// envtest disables the ServiceAccount admission plugin because nothing creates the default ServiceAccounts there.
	// Here the controller-manager creates them.
	server.Configure().
		Set("advertise-address", advertiseAddress).
		Set("disable-admission-plugins", "TaintNodesByCondition"). // no controller would remove the taint from a new Node
		Set("kubelet-preferred-address-types", string(kubeletAddressType)).
		Set("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("service-cluster-ip-range", "10.0.0.0/16"). // envtest's default range only has 254 addresses
		Set("enable-priority-and-fairness", "false").   // no other client competes for this API server
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
		return fmt.Errorf("cannot start the fake kubelet: %w", err)
	}
	if cp.nodes, err = newFakeNodes(ctx, cp.clientset, port); err != nil {
		return fmt.Errorf("cannot create the Nodes: %w", err)
	}
	cp.nodes.start(ctx)
	return nil
}

func (cp *ControlPlane) tearDown() error {
	errs := []error{cp.exited()}
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
