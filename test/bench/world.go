package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/binaries"
	"github.com/operator-assay/assay/test/harness/cluster"
)

// root is the repository's, from this package's folder.
const root = "../.."

// connections is how many requests the user, and the ideal client, have under way at a time.
const connections = 20

// world is a new cluster with the operator's kinds and roles, a user and an observer.
type world struct {
	kind     kind
	count    int // of resources
	cluster  *cluster.Cluster
	user     client.Client // who may do anything
	observer *observer
	audit    *auditTail // of the measured client
	slots    chan struct{}
	ideal    *ideal // nil where the operator is measured
	operator *process
	logs     string // the folder of the operator's logs
	started  int    // operators so far
	fail     context.CancelCauseFunc
}

// openWorld makes a cluster that has room for 3 Pods of each resource. Close it in the end. It calls fail when
// something fails that nobody waits for.
func openWorld(ctx context.Context, fail context.CancelCauseFunc, k kind, count int, user string, progress io.Writer) (w *world, err error) {
	const nodes = 10
	w = &world{kind: k, count: count, slots: make(chan struct{}, connections), fail: fail}
	w.cluster, err = cluster.Open(ctx, cluster.Options{
		Provider: cluster.KWOK, Name: "bench", Nodes: nodes, PodsPerNode: 110 + 3*count/nodes,
		AuditPolicy: auditPolicy, Progress: progress,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close(ctx))
		}
	}()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if w.user, err = client.New(ownConnections(w.cluster.Config), client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if err := w.install(ctx); err != nil {
		return nil, fmt.Errorf("the operator is not installed: %w", err)
	}
	if err := w.makeNamespaces(ctx); err != nil {
		return nil, err
	}
	if w.observer, err = observe(ctx, w.cluster.Config, scheme, k); err != nil {
		return nil, err
	}
	w.audit, err = tailAudit(w.cluster.AuditLog, user)
	return w, err
}

// ownConnections has each request under way use a connection of its own, as several clients would.
func ownConnections(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	return config
}

// folder is the cluster's own, which goes with it.
func (w *world) folder() string { return filepath.Dir(w.cluster.Kubeconfig) }

// close ends the operator and removes the cluster.
func (w *world) close(ctx context.Context) error {
	var errs []error
	if w.operator != nil {
		errs = append(errs, w.operator.stop())
		w.operator = nil
	}
	if w.audit != nil {
		errs = append(errs, w.audit.file.Close())
	}
	return errors.Join(append(errs, w.cluster.Close(context.WithoutCancel(ctx), false))...)
}

// install applies what `make deploy` does, but for the Deployment: KWOK would call its Pod ready and run nothing.
func (w *world) install(ctx context.Context) error {
	objects, err := manifests(ctx)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GroupVersionKind() == appsv1.SchemeGroupVersion.WithKind("Deployment") {
			continue
		}
		if err := w.user.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("bench"), client.ForceOwnership); err != nil {
			return err
		}
	}
	return eventually(ctx, func() error { // the API server begins to serve a new kind a little later
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(w.kind.GroupVersionKind)
		return w.user.List(ctx, list)
	})
}

// manifests are what operator/config/default builds.
func manifests(ctx context.Context) ([]*unstructured.Unstructured, error) {
	tools, err := binaries.Ensure(ctx, "", io.Discard)
	if err != nil {
		return nil, err
	}
	var complaint bytes.Buffer
	build := exec.CommandContext(ctx, filepath.Join(tools, "kubectl"), "kustomize", filepath.Join(root, "operator/config/default"))
	build.Stderr = &complaint
	text, err := build.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaint.String())
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// makeNamespaces makes those of all resources, and waits until they take Pods.
func (w *world) makeNamespaces(ctx context.Context) error {
	namespaces := []string{warmUp}
	for _, key := range names(w.count) {
		if !slices.Contains(namespaces, key.Namespace) {
			namespaces = append(namespaces, key.Namespace)
		}
	}
	for _, name := range namespaces {
		if err := w.user.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	for _, name := range namespaces {
		err := eventually(ctx, func() error {
			return w.user.Get(ctx, types.NamespacedName{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eventually tries what is no part of a measurement until it succeeds, for a minute at most.
func eventually(ctx context.Context, try func() error) error {
	var amiss error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		amiss = try()
		return amiss == nil, nil
	})
	if err != nil {
		return errors.Join(amiss, context.Cause(ctx))
	}
	return nil
}

// identity is a config with a token of a ServiceAccount in the operator's namespace.
func (w *world) identity(ctx context.Context, account string) (*rest.Config, error) {
	holder := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: account}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	if err := w.user.SubResource("token").Create(ctx, holder, token); err != nil {
		return nil, fmt.Errorf("no token of ServiceAccount %s: %w", account, err)
	}
	config := rest.AnonymousClientConfig(w.cluster.Config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	return config, nil
}

// administrator makes a ServiceAccount that may do anything.
func (w *world) administrator(ctx context.Context, account string) error {
	return errors.Join(
		w.user.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: account}}),
		w.user.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: account}},
		}))
}

// keepLogs copies what the cluster's parts have logged to a folder.
func (w *world) keepLogs(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return w.cluster.ExportLogs(ctx, dir)
}
