package controlplane_test

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
)

// The Kubernetes controllers run, so a Deployment gets Pods.
func ExampleStart() {
	ctx := context.Background()
	plane, err := controlplane.Start(ctx, controlplane.Options{}) // set Options.CRDs to install an operator's CRDs
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Println(err)
		}
	}()
	namespace, err := plane.CreateNamespace(ctx, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	history, err := record.NewHistory(watching, plane.Client, namespace, appsv1.SchemeGroupVersion.WithKind("Deployment"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := plane.Client.Create(ctx, deployment); err != nil {
		fmt.Println(err)
		return
	}
	err = history.WaitFor(ctx, namespace, time.Minute, func(ctx context.Context) error {
		if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err
		}
		if deployment.Status.ReadyReplicas != 3 {
			return fmt.Errorf("%d of 3 replicas are ready", deployment.Status.ReadyReplicas)
		}
		return nil
	})
	fmt.Println(deployment.Status.ReadyReplicas, err)
}
