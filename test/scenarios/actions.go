package scenarios

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

// Steps store values for later steps under these keys.
const keyManifest, keyPods, keyDeployment, keyService = "manifest", "pods", "deployment", "service"

// ApplySample applies the sample unchanged, like kubectl apply --server-side.
func (k TestKind) ApplySample() scenario.Step {
	return scenario.Step{Name: "ApplySample", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		manifest := k.Manifest(env)
		env.Detailf("%s %s", k.Kind, manifest.GetName())
		return k.apply(ctx, env, manifest)
	}}
}

// ScaleTo applies the manifest with the given number of replicas.
func (k TestKind) ScaleTo(replicas int64) scenario.Step {
	return k.applyWith(fmt.Sprintf("ScaleTo(%d)", replicas), replicas, "spec", k.Replicas)
}

// UpgradeImage applies the manifest with a different image.
func (k TestKind) UpgradeImage() scenario.Step {
	return k.applyWith("UpgradeImage", k.Images.To, "spec", "image")
}

// SetImage applies the manifest with the given image.
func (k TestKind) SetImage(image string) scenario.Step {
	return k.applyWith("SetImage", image, "spec", "image")
}

// applyWith applies the last manifest again with one field changed.
func (k TestKind) applyWith(name string, value any, field ...string) scenario.Step {
	return scenario.Step{Name: name, IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		manifest, err := scenario.Get[*unstructured.Unstructured](env, keyManifest)
		if err != nil {
			return err
		}
		before, named, _ := unstructured.NestedFieldNoCopy(manifest.Object, field...)
		if !named {
			before = "the default"
		}
		manifest = manifest.DeepCopy()
		if err := unstructured.SetNestedField(manifest.Object, value, field...); err != nil {
			return err
		}
		env.Detailf("%v → %v", before, value)
		return k.apply(ctx, env, manifest)
	}}
}

func (k TestKind) apply(ctx context.Context, env *scenario.Env, manifest *unstructured.Unstructured) error {
	env.Set(keyManifest, manifest.DeepCopy())
	return env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), client.FieldOwner(scenario.User))
}

// RememberPods stores the current Pods for later steps.
func (k TestKind) RememberPods() scenario.Step {
	return scenario.Step{Name: "RememberPods", Run: func(ctx context.Context, env *scenario.Env) error {
		pods, err := k.activePods(ctx, env)
		env.Set(keyPods, pods)
		env.Detailf("%d Pods", len(pods))
		return err
	}}
}

// DeleteDeployment deletes the Deployment directly, without changing the resource.
func (k TestKind) DeleteDeployment() scenario.Step {
	return scenario.Step{Name: "DeleteDeployment", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		return env.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: k.Manifest(env).GetName()}})
	}}
}

// TamperWithDeployment changes fields that the operator owns and adds a foreign annotation, like kubectl edit.
func (k TestKind) TamperWithDeployment() scenario.Step {
	return scenario.Step{Name: "TamperWithDeployment", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		deployment, err := k.deployment(ctx, env)
		if err != nil {
			return err
		}
		env.Set(keyDeployment, deployment.DeepCopy())
		before := deployment.DeepCopy()
		*deployment.Spec.Replicas = 1
		delete(deployment.Labels, "app.kubernetes.io/managed-by")
		deployment.Spec.Template.Spec.Containers[0].Image = "tampered:1"
		deployment.Annotations["example.com/note"] = "not the operator's"
		return env.Client.Patch(ctx, deployment, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))
	}}
}

// Delete deletes the resource without waiting for the deletion to complete.
func (k TestKind) Delete() scenario.Step {
	return scenario.Step{Name: "Delete", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		return env.Client.Delete(ctx, k.Manifest(env))
	}}
}

func (k TestKind) deployment(ctx context.Context, env *scenario.Env) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, env.Client.Get(ctx, client.ObjectKeyFromObject(k.Manifest(env)), deployment)
}
