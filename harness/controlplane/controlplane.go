package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/wait"
)

// startTimeout is long because a shared CI machine can be ten times slower than a laptop.
const startTimeout = time.Minute

// Options configure a control plane. The zero value starts a control plane without CRDs.
type Options struct {
	// CRDs are the paths of the CustomResourceDefinitions to install. A path names a YAML file, a directory with YAML
	// files, or a kustomization. Start returns an error if a path does not exist.
	CRDs        []string
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Scheme is the scheme of Client. Defaults to the client-go scheme.
	Scheme *runtime.Scheme
	// UseReserve makes Start use a control plane that Reserve has started. If none is available, Start starts a new
	// one.
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
	crds      []*apiextensionsv1.CustomResourceDefinition
	servers   *servers
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
func (cp *ControlPlane) Stop() error {
	return cp.stop()
}

// readCRDs runs first, so that Start fails on a wrong path before it starts any process.
func (cp *ControlPlane) readCRDs(context.Context) error {
	var err error
	if cp.crds, err = project.ReadCRDs(cp.options.CRDs...); err != nil {
		return fmt.Errorf("cannot read the CRDs: %w", err)
	}
	cp.crds = append(cp.crds, cp.options.Definitions...)
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

// installCRDs creates the CRDs and waits until the API server serves their resources.
func (cp *ControlPlane) installCRDs(ctx context.Context) error {
	clientset, err := apiextensions.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	for _, crd := range cp.crds {
		if _, err := clientset.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("cannot create CRD %s: %w", crd.Name, err)
		}
	}
	return wait.For(ctx, startTimeout, wait.Poll(10*time.Millisecond), func(context.Context) error {
		for _, crd := range cp.crds {
			for _, version := range crd.Spec.Versions {
				resources, err := cp.clientset.Discovery().ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version.Name)
				isServed := err == nil && slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == crd.Spec.Names.Plural })
				if version.Served && !isServed {
					return errors.Join(err, fmt.Errorf("the API server does not serve %s of CRD %s", version.Name, crd.Name))
				}
			}
		}
		return nil
	})
}

func (cp *ControlPlane) startNodes(ctx context.Context) (err error) {
	var port int32
	if cp.kubelet, port, err = serveKubelet(cp.clientset, cp.servers.path(servingCert), cp.servers.path(servingKey)); err != nil {
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
