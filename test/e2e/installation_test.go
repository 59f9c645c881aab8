package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/wait"
)

// These names are set by the kustomization in operator/config/default.
const (
	operatorNamespace = "assay-system"
	operatorName      = "assay-controller-manager" // both the Deployment and the ServiceAccount
	leaseName         = "assay-operator"
)

type installation struct {
	objects []*unstructured.Unstructured
	runner
}

// runner runs the operator, either as Pods or as a local process.
type runner interface {
	// Start starts one replica and waits until it is ready.
	Start(ctx context.Context) error
	// CheckRestarts returns an error if a replica has exited or restarted without being stopped by the suite.
	CheckRestarts(ctx context.Context) error
	Stop() error
}

func installOperator(ctx context.Context) error {
	err := install(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot install the operator: %w\nartifacts   %s", err, collectArtifacts(ctx, "setup", operatorNamespace))
	}
	return err
}

func install(ctx context.Context) error {
	began := time.Now()
	objects, err := manifests()
	if err != nil {
		return err
	}
	if err := ensureNotInstalled(ctx, objects); err != nil {
		return err
	}
	installed := &installation{}
	var what string
	if testCluster.Provider == cluster.KWOK {
		// KWOK would mark the Pods of the operator as ready without running them.
		installed.objects = slices.DeleteFunc(objects, isDeployment)
		installed.runner, what = &localProcess{}, "local process with its own ServiceAccount"
	} else {
		installed.objects, installed.runner, what = objects, newPods(), "Pod"
	}
	operator = installed
	for _, object := range installed.objects {
		if err := setImage(object); err != nil {
			return err
		}
		if err := k8sClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("assay-e2e"), client.ForceOwnership); err != nil {
			return fmt.Errorf("cannot install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	if err := testCluster.DiscoverKinds(ctx); err != nil {
		return err
	}
	if err := operator.Start(ctx); err != nil {
		return err
	}
	reporter.Phase("operator", time.Since(began), "%s, ready", what)
	return nil
}

// manifests returns the rendered objects. The Namespace comes first, because other objects are created in it.
func manifests() ([]*unstructured.Unstructured, error) {
	rendered, err := project.Render(filepath.Join(root, "operator/config/default"))
	var objects []*unstructured.Unstructured
	for i := range rendered {
		at := len(objects)
		if rendered[i].GetKind() == "Namespace" {
			at = 0
		}
		objects = slices.Insert(objects, at, &rendered[i])
	}
	return objects, err
}

func isDeployment(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == appsv1.SchemeGroupVersion.WithKind("Deployment")
}

// ensureNotInstalled removes an installation that an earlier run has left behind. In an existing cluster, it returns an
// error instead, because the installation may be in use.
func ensureNotInstalled(ctx context.Context, objects []*unstructured.Unstructured) error {
	existing, err := firstExisting(ctx, objects)
	switch {
	case err != nil || existing == nil:
		return err
	case testCluster.Provider == cluster.Existing:
		return fmt.Errorf("%s %s already exists in the cluster of context %s: uninstall that operator, or choose another context",
			existing.GetKind(), existing.GetName(), options.Context)
	default:
		return errors.Join((&installation{objects: objects}).Uninstall(ctx), deleteLeftovers(ctx))
	}
}

// Uninstall deletes all installed objects, including the custom resources, and waits until they are gone.
func (i *installation) Uninstall(ctx context.Context) error {
	for _, object := range i.objects {
		if err := client.IgnoreNotFound(k8sClient.Delete(ctx, object)); err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("cannot delete %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return waitFor(ctx, func(ctx context.Context) error {
		existing, err := firstExisting(ctx, i.objects)
		if existing != nil {
			err = fmt.Errorf("%s %s still exists", existing.GetKind(), existing.GetName())
		}
		return err
	})
}

func firstExisting(ctx context.Context, objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, object := range objects {
		err := k8sClient.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
		if err == nil {
			return object, nil
		}
		if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return nil, err
		}
	}
	return nil, nil
}

// deleteLeftovers deletes all objects that scenarios have created, and waits until they are gone.
func deleteLeftovers(ctx context.Context) error {
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
			return fmt.Errorf("%d namespaces still exist, for example %s", left, namespaces.Items[0].Name)
		}
		return nil
	})
}

// waitFor polls until check succeeds. For states in the namespace of a scenario, use scenario.Env.WaitFor instead.
func waitFor(ctx context.Context, check func(context.Context) error) error {
	return wait.For(ctx, stepTimeout(), wait.Poll(pollInterval), check)
}

func operatorLogs() string { return filepath.Join(artifactsDir, "operator") }
