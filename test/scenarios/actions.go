package scenarios

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// user is the field owner under which the stories' user applies manifests.
const user = client.FieldOwner("assay-user")

// What steps remember.
const (
	theManifest   = "manifest"
	thePods       = "pods"
	theDeployment = "deployment"
	theService    = "service"
)

// ApplySample applies the sample unchanged, as kubectl apply --server-side does.
func (k Kind) ApplySample() scenario.Step {
	return scenario.Step{Name: "ApplySample", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		manifest, err := k.Manifest(w)
		if err != nil {
			return err
		}
		w.Detailf("%s %s", k.Kind, manifest.GetName())
		return k.apply(ctx, w, manifest)
	}}
}

// ApplySampleWith applies the sample with another image.
func (k Kind) ApplySampleWith(image string) scenario.Step {
	return scenario.Step{Name: "ApplySampleWith", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		manifest, err := k.Manifest(w)
		if err != nil {
			return err
		}
		w.Detailf("%s", image)
		if err := unstructured.SetNestedField(manifest.Object, image, "spec", "image"); err != nil {
			return err
		}
		return k.apply(ctx, w, manifest)
	}}
}

// ScaleTo applies the manifest with another number of Pods.
func (k Kind) ScaleTo(replicas int64) scenario.Step {
	return k.edit(fmt.Sprintf("ScaleTo(%d)", replicas), replicas, "spec", k.replicas)
}

// UpgradeImage applies the manifest with another image.
func (k Kind) UpgradeImage() scenario.Step {
	return k.edit("UpgradeImage", k.images.Second, "spec", "image")
}

// edit applies the manifest of before with one field changed.
func (k Kind) edit(name string, value any, field ...string) scenario.Step {
	return scenario.Step{Name: name, IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		manifest, err := scenario.Get[*unstructured.Unstructured](w, theManifest)
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
		w.Detailf("%v → %v", before, value)
		return k.apply(ctx, w, manifest)
	}}
}

func (k Kind) apply(ctx context.Context, w *scenario.Env, manifest *unstructured.Unstructured) error {
	w.Set(theManifest, manifest.DeepCopy())
	return w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), user)
}

// RememberPods remembers the Pods that live now.
func (k Kind) RememberPods() scenario.Step {
	return scenario.Step{Name: "RememberPods", Run: func(ctx context.Context, w *scenario.Env) error {
		pods, err := k.livingPods(ctx, w)
		w.Set(thePods, pods)
		w.Detailf("%d Pods", len(pods))
		return err
	}}
}

// DeleteDeployment deletes the Deployment behind the operator's back.
func (k Kind) DeleteDeployment() scenario.Step {
	return scenario.Step{Name: "DeleteDeployment", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		deployment, err := k.deployment(ctx, w)
		if err != nil {
			return err
		}
		w.Set(theDeployment, deployment)
		return w.Client.Delete(ctx, deployment)
	}}
}

// TamperWithDeployment changes what the operator owns, and adds what it does not, as somebody with
// kubectl edit does.
func (k Kind) TamperWithDeployment() scenario.Step {
	return scenario.Step{Name: "TamperWithDeployment", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		deployment, err := k.deployment(ctx, w)
		if err != nil {
			return err
		}
		w.Set(theDeployment, deployment.DeepCopy())
		before := deployment.DeepCopy()
		*deployment.Spec.Replicas = 1
		delete(deployment.Labels, "app.kubernetes.io/managed-by")
		deployment.Spec.Template.Spec.Containers[0].Image = "tampered:1"
		deployment.Annotations["example.com/note"] = "not the operator's"
		return w.Client.Patch(ctx, deployment, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))
	}}
}

// Delete deletes the resource and does not wait for anything.
func (k Kind) Delete() scenario.Step {
	return scenario.Step{Name: "Delete", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		manifest, err := k.Manifest(w)
		if err != nil {
			return err
		}
		return w.Client.Delete(ctx, manifest)
	}}
}

// deployment gets the resource's Deployment, which has its name.
func (k Kind) deployment(ctx context.Context, w *scenario.Env) (*appsv1.Deployment, error) {
	manifest, err := k.Manifest(w)
	if err != nil {
		return nil, err
	}
	deployment := &appsv1.Deployment{}
	return deployment, w.Client.Get(ctx, client.ObjectKeyFromObject(manifest), deployment)
}
