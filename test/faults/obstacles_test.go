package faults_test

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/wait"
	"github.com/operator-assay/assay/operator/api/workload"
)

const (
	// takenPort is a node port that another Service uses.
	takenPort    int64 = 32000
	missingImage       = "example.com/no-such:image"
	// quotaPods allows for every generated spec and for the extra Pods during a rollout. podsOverQuota exceeds it.
	quotaPods           = "4"
	podsOverQuota int64 = 6
)

// obstacle makes a valid spec impossible to satisfy.
type obstacle struct {
	name      string
	appliesTo func(subject) bool
	// setup prepares the namespace and changes a valid spec so that it cannot be satisfied there.
	setup func(context.Context, *transitionTest, subject, string, map[string]any) error
	// whileBlocked, if set, simulates other components while the resource is blocked.
	whileBlocked func(context.Context, *transitionTest, subject, string) error
	// reason is the expected reason of the Degraded condition.
	reason string
	// cleanUp, if set, undoes setup after the spec has been corrected.
	cleanUp func(context.Context, *transitionTest, subject, string, map[string]any) error
}

var obstacles = []obstacle{
	{
		name:      "node port in use",
		appliesTo: func(s subject) bool { return s.Kind == "WebServer" },
		reason:    workload.ReasonRejected,
		setup: func(ctx context.Context, tt *transitionTest, _ subject, namespace string, spec map[string]any) error {
			spec["nodePort"] = takenPort
			return tt.takePort(ctx, namespace)
		},
	},
	{
		name:      "missing image",
		appliesTo: func(subject) bool { return true },
		reason:    workload.ReasonPodsFailing,
		setup: func(_ context.Context, _ *transitionTest, s subject, namespace string, spec map[string]any) error {
			spec["image"], spec[s.Replicas] = missingImage, int64(2)
			plane.PausePods(namespace)
			return nil
		},
		whileBlocked: func(ctx context.Context, tt *transitionTest, _ subject, namespace string) error {
			return tt.failImagePull(ctx, namespace)
		},
		cleanUp: func(_ context.Context, _ *transitionTest, _ subject, namespace string, _ map[string]any) error {
			plane.ResumePods(namespace)
			return nil
		},
	},
	{
		name:      "exceeded quota",
		appliesTo: func(subject) bool { return true },
		reason:    workload.ReasonPodCreationFailed,
		setup: func(ctx context.Context, tt *transitionTest, s subject, namespace string, spec map[string]any) error {
			spec[s.Replicas] = podsOverQuota
			return tt.limitPods(ctx, namespace)
		},
		// The quota no longer blocks the resource. Remove it anyway, because the resource is compared with a new one in a
		// namespace without a quota.
		cleanUp: func(ctx context.Context, tt *transitionTest, s subject, namespace string, good map[string]any) error {
			if err := tt.applyAndWait(ctx, s, namespace, good); err != nil {
				return err
			}
			return plane.Client.Delete(ctx, quotaIn(namespace))
		},
	},
}

// takePort creates a Service in another namespace with the node port that the resource requests.
func (tt *transitionTest) takePort(ctx context.Context, namespace string) error {
	port, err := ports.of(namespace, takenPort)
	if err != nil {
		return err
	}
	elsewhere, err := plane.CreateNamespace(ctx, "elsewhere")
	if err != nil {
		return err
	}
	return plane.Client.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "first"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: int32(port)}}},
	})
}

func (tt *transitionTest) failImagePull(ctx context.Context, namespace string) error {
	return tt.history.WaitFor(ctx, namespace, sharedTimeout, func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := plane.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if container := pod.Spec.Containers[0]; container.Image == missingImage {
				status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
					Name: container.Name, Image: container.Image,
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
				}}}})
				if err != nil {
					return wait.Stop(err)
				}
				return plane.Client.Status().Patch(ctx, &pod, client.RawPatch(types.StrategicMergePatchType, status))
			}
		}
		return fmt.Errorf("no Pod with image %s", missingImage)
	})
}

func (tt *transitionTest) limitPods(ctx context.Context, namespace string) error {
	quota := quotaIn(namespace)
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(quotaPods)}
	return createQuota(ctx, tt.history, quota)
}

// createQuota creates a quota and waits until the quota controller enforces it.
func createQuota(ctx context.Context, history *record.History, quota *corev1.ResourceQuota) error {
	if err := plane.Client.Create(ctx, quota); err != nil {
		return err
	}
	return history.WaitFor(ctx, quota.Namespace, sharedTimeout, func(ctx context.Context) error {
		if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("quota %s is not enforced yet", quota.Name)
		}
		return nil
	})
}

func quotaIn(namespace string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few-pods"}}
}
