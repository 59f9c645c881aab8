package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/wait"
)

// root is the root directory of the repository, relative to this package.
const root = "../../.."

// connections is the maximum number of parallel requests of the user, and of the ideal client.
const connections = 20

// env is a new cluster with the operator's CRDs and roles, a user and an observer.
type env struct {
	kind      kind
	count     int // the number of resources
	cluster   *cluster.Cluster
	user      client.Client // acts as the administrator
	observer  *observer
	audit     *auditTail // the requests of the measured client
	semaphore chan struct{}
	ideal     *ideal    // nil if the operator is measured
	operator  *instance // nil if the operator is not running
	logs      string    // the directory for the operator's logs
	started   int       // the number of operators that have been started
	fail      context.CancelCauseFunc
}

// newEnv creates a cluster with capacity for 3 Pods per resource. The caller must close it. Background errors, such
// as a crash of the operator, are passed to fail.
func newEnv(ctx context.Context, fail context.CancelCauseFunc, k kind, count int, user string, progress io.Writer) (_ *env, err error) {
	const nodes = 10
	e := &env{kind: k, count: count, semaphore: make(chan struct{}, connections), fail: fail}
	e.cluster, err = cluster.Open(ctx, cluster.Options{
		Provider: cluster.KWOK, Name: "bench", Nodes: nodes, PodsPerNode: 110 + 3*count/nodes,
		AuditPolicy: auditPolicy, Progress: progress,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close(ctx))
		}
	}()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if e.user, err = client.New(ownConnections(e.cluster.Config), client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if err := e.createNamespaces(ctx); err != nil {
		return nil, err
	}
	if err := e.install(ctx); err != nil {
		return nil, fmt.Errorf("the operator is not installed: %w", err)
	}
	if e.observer, err = observe(ctx, e.cluster.Config, scheme, k); err != nil {
		return nil, err
	}
	e.audit, err = tailAudit(e.cluster.AuditLog, user)
	return e, err
}

// ownConnections uses a separate connection for each parallel request, as if they came from several clients.
func ownConnections(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	return config
}

// folder returns the cluster's directory, which is removed together with the cluster.
func (e *env) folder() string { return filepath.Dir(e.cluster.Kubeconfig) }

// close stops the operator and removes the cluster.
func (e *env) close(ctx context.Context) error {
	var errs []error
	if e.operator != nil {
		errs = append(errs, e.stopOperator())
	}
	if e.audit != nil {
		errs = append(errs, e.audit.file.Close())
	}
	return errors.Join(append(errs, e.cluster.Close(context.WithoutCancel(ctx), false))...)
}

// install applies the same objects as `make deploy`, except the Deployment, because KWOK cannot run its Pod.
func (e *env) install(ctx context.Context) error {
	objects, err := project.Render(filepath.Join(root, "operator/config/default"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GroupVersionKind() == appsv1.SchemeGroupVersion.WithKind("Deployment") {
			continue
		}
		if err := e.user.Apply(ctx, client.ApplyConfigurationFromUnstructured(&object), client.FieldOwner("bench"), client.ForceOwnership); err != nil {
			return err
		}
	}
	return eventually(ctx, func(ctx context.Context) error { // a new CRD is not served immediately
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(e.kind.GroupVersionKind)
		return e.user.List(ctx, list)
	})
}

// createNamespaces creates the namespaces of the operator and of all resources, and waits until Pods can be created
// in them.
func (e *env) createNamespaces(ctx context.Context) error {
	namespaces := []string{operatorNamespace, warmUp}
	for _, key := range resourceKeys(e.count) {
		if !slices.Contains(namespaces, key.Namespace) {
			namespaces = append(namespaces, key.Namespace)
		}
	}
	for _, name := range namespaces {
		if err := e.user.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	for _, name := range namespaces {
		err := eventually(ctx, func(ctx context.Context) error {
			return e.user.Get(ctx, types.NamespacedName{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eventually polls for up to a minute. Do not use it for measurements.
func eventually(ctx context.Context, check func(context.Context) error) error {
	return wait.For(ctx, time.Minute, wait.Poll(50*time.Millisecond), check)
}

// identity returns a config with a token for a ServiceAccount in the operator's namespace.
func (e *env) identity(ctx context.Context, account string) (*rest.Config, error) {
	serviceAccount := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: account}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	if err := e.user.SubResource("token").Create(ctx, serviceAccount, token); err != nil {
		return nil, fmt.Errorf("no token of ServiceAccount %s: %w", account, err)
	}
	config := rest.AnonymousClientConfig(e.cluster.Config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	return config, nil
}

// createAdministrator creates a ServiceAccount with the role cluster-admin.
func (e *env) createAdministrator(ctx context.Context, account string) error {
	return errors.Join(
		e.user.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: account}}),
		e.user.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: account}},
		}))
}
