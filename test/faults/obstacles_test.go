package faults

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

const (
	// takenPort is a node port that somebody else has.
	takenPort int64 = 32000
	// noImage is one that no kubelet can pull.
	noImage = "example.com/no-such:image"
	// fewPods are enough for the specs that are generated and the surge of a rollout, tooMany are not.
	fewPods       = "4"
	tooMany int64 = 6
)

// obstacle makes a spec impossible that the schema admits.
type obstacle struct {
	name string
	// of tells of which kinds.
	of func(subject) bool
	// spoil prepares the namespace and changes a good spec into one that is impossible there.
	spoil func(context.Context, *history, subject, string, map[string]any) error
	// meanwhile is what becomes of that without the operator, if anything.
	meanwhile func(context.Context, *history, subject, string) error
	// reason is what the operator has to say.
	reason string
	// after takes away what was prepared, once the spec is corrected.
	after func(context.Context, *history, subject, string, map[string]any) error
}

// obstacles are what a spec can run into.
var obstacles = []obstacle{
	{
		name:   "a node port that is taken",
		of:     func(s subject) bool { return s.Kind == "WebServer" },
		reason: workload.ReasonRejected,
		spoil: func(ctx context.Context, h *history, _ subject, namespace string, spec map[string]any) error {
			spec["nodePort"] = takenPort
			return h.takePort(ctx, namespace)
		},
	},
	{
		name:   "an image that cannot be pulled",
		of:     func(subject) bool { return true },
		reason: workload.ReasonPodsFailing,
		spoil: func(_ context.Context, _ *history, s subject, namespace string, spec map[string]any) error {
			spec["image"], spec[s.replicas] = noImage, int64(2)
			plane.HoldPods(namespace)
			return nil
		},
		meanwhile: func(ctx context.Context, h *history, _ subject, namespace string) error {
			return h.failToPull(ctx, namespace)
		},
		after: func(_ context.Context, _ *history, _ subject, namespace string, _ map[string]any) error {
			plane.ReleasePods(namespace)
			return nil
		},
	},
	{
		name:   "more Pods than the quota allows",
		of:     func(subject) bool { return true },
		reason: workload.ReasonPodCreationFailed,
		spoil: func(ctx context.Context, h *history, s subject, namespace string, spec map[string]any) error {
			spec[s.replicas] = tooMany
			return h.limitPods(ctx, namespace)
		},
		// The quota is in nobody's way any more, but a fresh resource's namespace has none.
		after: func(ctx context.Context, h *history, s subject, namespace string, good map[string]any) error {
			if err := h.reach(ctx, s, namespace, good); err != nil {
				return err
			}
			return plane.Client.Delete(ctx, quotaIn(namespace))
		},
	},
}

// takePort has somebody else's Service use the port that the namespace's resource would get.
func (h *history) takePort(ctx context.Context, namespace string) error {
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

// failToPull plays the kubelet that cannot pull noImage for a Pod.
func (h *history) failToPull(ctx context.Context, namespace string) error {
	waiting, cancel := context.WithTimeout(ctx, shared)
	defer cancel()
	for {
		changed, _ := h.witness.Changed(namespace)
		pods := &corev1.PodList{}
		if err := plane.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if container := pod.Spec.Containers[0]; container.Image == noImage {
				status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
					Name: container.Name, Image: container.Image,
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
				}}}})
				if err != nil {
					return err
				}
				return plane.Client.Status().Patch(ctx, &pod, client.RawPatch(types.StrategicMergePatchType, status))
			}
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return fmt.Errorf("no Pod of image %s after %s", noImage, shared)
		}
	}
}

// limitPods returns when the quota is in force: its controller must have counted first.
func (h *history) limitPods(ctx context.Context, namespace string) error {
	waiting, cancel := context.WithTimeout(ctx, shared)
	defer cancel()
	quota := quotaIn(namespace)
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(fewPods)}
	if err := plane.Client.Create(ctx, quota); err != nil {
		return err
	}
	for len(quota.Status.Hard) == 0 {
		changed, _ := h.witness.Changed(namespace)
		if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return fmt.Errorf("the quota is not in force after %s", shared)
		}
	}
	return nil
}

func quotaIn(namespace string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few-pods"}}
}
