package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
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

// Timeouts for a single process. They are long because a shared CI machine can be much slower than a laptop.
const (
	startTimeout = 5 * time.Minute
	stopTimeout  = 20 * time.Second
)

// Options configure a control plane. The zero value starts a control plane without CRDs.
type Options struct {
	// CRDs are the paths of the CustomResourceDefinitions to install. A path names a YAML file, a directory with YAML
	// files, or a kustomization. Start returns an error if a path does not exist.
	CRDs        []string
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Scheme is the scheme of Client. It must contain the Kubernetes types. Defaults to the client-go scheme.
	Scheme *runtime.Scheme
	// UseReserve makes Start use a running or starting control plane from Reserve, if there is one.
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
	crds      envtest.CRDInstallOptions
	servers   *servers
	manager   *process.Process
	kubelet   *kubelet
	nodes     *fakeNodes
	clientset kubernetes.Interface
	stop      func() error
}

// Start starts a control plane and installs the CRDs. It gets the executables from package binaries, which looks in
// KUBEBUILDER_ASSETS first.
//
// ctx bounds only the startup, so the context of a Ginkgo setup node can be used. The control plane runs until Stop is
// called. If ctx is done during startup or a component fails to start, Start removes everything that it has created.
// The error is a single line that names the failed component and includes the last error in its log.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	cp := &ControlPlane{options: options}
	cp.stop = sync.OnceValue(cp.tearDown)
	for _, step := range []func(context.Context) error{
		cp.readCRDs,
		cp.startServers,
		cp.connect,
		cp.installCRDs, // before the controller-manager, because its garbage collector discovers new kinds only every 30s
		cp.startControllerManager,
		cp.startNodes,
	} {
		err := ctx.Err()
		if err == nil {
			err = step(ctx)
		}
		if err != nil {
			_ = cp.Stop() // return the first error, which is the cause
			return nil, err
		}
	}
	return cp, nil
}

// Stop stops the fake nodes and kills kube-controller-manager, kube-apiserver and etcd. It does not shut them down
// gracefully, because they would wait for every open watch and their data is temporary. It also removes all temporary
// files. The error names each process that had already exited and includes the last error in its log. Later calls
// return the same error.
func (cp *ControlPlane) Stop() error { return cp.stop() }

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

func (cp *ControlPlane) startServers(ctx context.Context) error {
	assets, err := binaries.Ensure(ctx, "", os.Stderr, Binaries...)
	if err == nil && cp.options.UseReserve {
		cp.servers, err = take(ctx, assets)
	}
	if err == nil && cp.servers == nil {
		cp.servers, err = startServers(ctx, assets)
	}
	if err != nil {
		return err
	}
	cp.LogsDir = cp.servers.logsDir()
	return nil
}

func (cp *ControlPlane) connect(context.Context) (err error) {
	cp.Config = cp.servers.admin
	if cp.clientset, err = kubernetes.NewForConfig(cp.Config); err != nil {
		return err
	}
	cp.Client, err = client.NewWithWatch(cp.Config, client.Options{
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
	if cp.kubelet, port, err = serveKubelet(cp.clientset, cp.servers.dataDir(apiServer)); err != nil {
		return fmt.Errorf("cannot start the fake kubelet: %w", err)
	}
	if cp.nodes, err = newFakeNodes(ctx, cp.Config, cp.clientset, port); err != nil {
		return fmt.Errorf("cannot create the Nodes: %w", err)
	}
	return cp.nodes.start(ctx)
}

func (cp *ControlPlane) tearDown() error {
	if cp.servers == nil {
		return nil
	}
	errs := []error{cp.servers.exited()}
	if cp.nodes != nil {
		cp.nodes.stop()
	}
	if cp.kubelet != nil {
		errs = append(errs, cp.kubelet.Close())
	}
	return errors.Join(append(errs, cp.servers.stop())...)
}
