package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/wait"
)

// Names of objects in operator/config/default, as kustomize renders it.
const (
	operatorNamespace = "assay-system"
	operatorName      = "assay-controller-manager" // of the Deployment and of the ServiceAccount
	leaseName         = "assay-operator"
	metricsReader     = "assay-metrics-reader"
)

// installation is the operator in the cluster: what `make deploy` applies, and what runs it.
type installation struct {
	objects []*unstructured.Unstructured
	runner
}

// runner runs the operator: as Pods of its Deployment, or as processes where Pods are simulated.
type runner interface {
	// Scale sets the number of replicas, and returns when they are ready.
	Scale(ctx context.Context, replicas int) error
	// KillLeader kills the replica that leads. Another one is started in its place.
	KillLeader(ctx context.Context) error
	// Undisturbed returns an error if a replica has exited that the suite has not ended.
	Undisturbed(ctx context.Context) error
	// Metrics is an address on this machine that serves a replica's metrics until ctx ends.
	Metrics(ctx context.Context) (address string, err error)
	// Stop stops what runs outside the cluster.
	Stop() error
}

// installOperator installs the operator and waits until it is ready.
func installOperator(ctx context.Context) error {
	err := install(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the operator is not installed: %w\nartifacts   %s", err, collectArtifacts(ctx, "setup", operatorNamespace))
	}
	return err
}

func install(ctx context.Context) error {
	began := time.Now()
	if err := prepareCoverage(ctx); err != nil {
		return err
	}
	objects, err := manifests(ctx)
	if err != nil {
		return err
	}
	if err := ensureNotInstalled(ctx, objects); err != nil {
		return err
	}
	installed := &installation{}
	var what string
	if testCluster.Provider == cluster.KWOK {
		// KWOK would mark a Pod of the operator ready and run nothing.
		installed.objects = slices.DeleteFunc(objects, isDeployment)
		installed.runner, what = newProcesses(), "a process under its own ServiceAccount"
	} else {
		installed.objects, installed.runner, what = objects, newPods(), "a Pod of its image"
	}
	operator = installed
	for _, object := range installed.objects {
		if err := errors.Join(setImage(object), addCoverageVolume(object)); err != nil {
			return err
		}
		if err := k8sClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("assay-e2e"), client.ForceOwnership); err != nil {
			return fmt.Errorf("cannot install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	if err := testCluster.DiscoverKinds(ctx); err != nil {
		return err
	}
	if err := operator.Scale(ctx, 1); err != nil {
		return err
	}
	reporter.Phase("operator", time.Since(began), "%s, ready", what)
	return nil
}

// manifests are the objects of operator/config/default.
func manifests(ctx context.Context) ([]*unstructured.Unstructured, error) {
	text, err := kubectl(ctx, "kustomize", filepath.Join(root, "operator/config/default"))
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
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

func isDeployment(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == appsv1.SchemeGroupVersion.WithKind("Deployment")
}

// ensureNotInstalled removes an installation that an earlier run has left. In an existing cluster it may be in use, and is an
// error.
func ensureNotInstalled(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		err := k8sClient.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
		switch {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			continue
		case err != nil:
			return err
		case testCluster.Provider == cluster.Existing:
			return fmt.Errorf("%s %s is in the cluster of context %s already: end that installation, or choose another context",
				object.GetKind(), object.GetName(), options.Context)
		default:
			return errors.Join((&installation{objects: objects}).Uninstall(ctx), deleteLeftovers(ctx))
		}
	}
	return nil
}

// Uninstall deletes what was installed, the kinds and their resources among it, and returns when it is gone.
func (i *installation) Uninstall(ctx context.Context) error {
	for _, object := range i.objects {
		if err := client.IgnoreNotFound(k8sClient.Delete(ctx, object)); err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("cannot delete %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return waitFor(ctx, func(ctx context.Context) error { return i.gone(ctx) })
}

// gone returns an error if something is left of the installation.
func (i *installation) gone(ctx context.Context) error {
	for _, object := range i.objects {
		err := k8sClient.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
		if err == nil {
			return fmt.Errorf("%s %s is still there", object.GetKind(), object.GetName())
		}
		if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return err
		}
	}
	return nil
}

// deleteLeftovers deletes what scenarios have left, and returns when it is gone.
func deleteLeftovers(ctx context.Context) error {
	if err := k8sClient.DeleteAllOf(ctx, &rbacv1.ClusterRoleBinding{}, client.HasLabels{namespaceLabel}); err != nil {
		return err
	}
	namespaces := &corev1.NamespaceList{}
	if err := k8sClient.List(ctx, namespaces, client.HasLabels{namespaceLabel}); err != nil {
		return err
	}
	for i := range namespaces.Items {
		if err := client.IgnoreNotFound(k8sClient.Delete(ctx, &namespaces.Items[i])); err != nil {
			return err
		}
	}
	return waitFor(ctx, func(ctx context.Context) error {
		if err := k8sClient.List(ctx, namespaces, client.HasLabels{namespaceLabel}); err != nil {
			return err
		}
		if left := len(namespaces.Items); left > 0 {
			return fmt.Errorf("%d namespaces are still there, %s among them", left, namespaces.Items[0].Name)
		}
		return nil
	})
}

// waitFor waits for a state that no watch of the scenario reports: one outside of its namespace, or of its cluster. The error
// is check's last one.
func waitFor(ctx context.Context, check func(context.Context) error) error {
	return wait.For(ctx, stepTimeout(), wait.Poll(pollInterval), check)
}

// operatorLogs is the folder for the logs of the operator's replicas in this run.
func operatorLogs() string { return filepath.Join(artifactsDir, "operator") }

// operatorLog creates the log file of a replica. It is an error if it exists.
func operatorLog(replica string) (*os.File, error) {
	if err := os.MkdirAll(operatorLogs(), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(operatorLogs(), replica+".log"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}
