package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pods run the operator as its Deployment says.
type pods struct {
	// known are the Pods that are there by the suite's own doing.
	known map[types.UID]string
}

func newPods() *pods { return &pods{known: map[types.UID]string{}} }

// metricsPort is the one that operator/config/manager gives the container.
const metricsPort = 8443

// setImage sets the image of the operator's Deployment, as `make deploy IMG=…` does.
func setImage(deployment *unstructured.Unstructured) error {
	if !isDeployment(deployment) {
		return nil
	}
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return errors.Join(err, errors.New("the operator's Deployment should have one container"))
	}
	containers[0].(map[string]any)["image"] = operatorImage
	return unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")
}

// Scale has the Deployment run so many Pods.
func (p *pods) Scale(ctx context.Context, replicas int) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas)}}
	if err := user.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
		return err
	}
	return p.settle(ctx, replicas)
}

// settle waits until so many Pods are ready, learns who they are and begins to read their logs.
func (p *pods) settle(ctx context.Context, replicas int) error {
	var list *corev1.PodList
	err := eventually(ctx, func(ctx context.Context) error {
		var err error
		if list, err = p.list(ctx); err != nil {
			return err
		}
		if len(list.Items) != replicas {
			return fmt.Errorf("the operator has %d Pods, not %d", len(list.Items), replicas)
		}
		for _, pod := range list.Items {
			if !isReady(pod) {
				return fmt.Errorf("the operator's Pod %s is not ready%s", pod.Name, waitingReason(pod))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	before := p.known
	p.known = map[types.UID]string{}
	for _, pod := range list.Items {
		p.known[pod.UID] = pod.Name
		if _, read := before[pod.UID]; !read {
			if err := follow(ctx, pod.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pods) list(ctx context.Context) (*corev1.PodList, error) {
	list := &corev1.PodList{}
	return list, user.List(ctx, list, client.InNamespace(operatorNamespace), client.MatchingLabels{"control-plane": "controller-manager"})
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// waitingReason is why a container does not run, if the kubelet says so.
func waitingReason(pod corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return fmt.Sprintf(": %s %s", waiting.Reason, waiting.Message)
		}
	}
	return ""
}

// follow writes a Pod's log to a file until the Pod ends, since a log goes with its Pod.
func follow(ctx context.Context, pod string) error {
	clientset, err := kubernetes.NewForConfig(where.Config)
	if err != nil {
		return err
	}
	stream, err := clientset.CoreV1().Pods(operatorNamespace).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	log, err := operatorLog(pod)
	if err != nil {
		return errors.Join(err, stream.Close())
	}
	go func() {
		defer stream.Close()
		defer log.Close()
		_, _ = io.Copy(log, stream) // a log that breaks off with its Pod is whole
	}()
	return nil
}

// KillLeader deletes the leader's Pod by force; its ReplicaSet makes another.
func (p *pods) KillLeader(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	if err := user.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: leaseName}, lease); err != nil {
		return err
	}
	// The holder is the Pod's name and, after an underscore, something unique.
	name, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	replicas := len(p.known)
	if err := user.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}}, client.GracePeriodSeconds(0)); err != nil {
		return fmt.Errorf("cannot kill the leader %q: %w", name, err)
	}
	return p.settle(ctx, replicas)
}

// Undisturbed says when a Pod has been replaced or a container restarted.
func (p *pods) Undisturbed(ctx context.Context) error {
	list, err := p.list(ctx)
	if err != nil {
		return err
	}
	for _, pod := range list.Items {
		if _, expected := p.known[pod.UID]; !expected {
			return fmt.Errorf("the operator's Pod %s has come by itself", pod.Name)
		}
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount > 0 {
				return fmt.Errorf("the operator's container in %s has restarted %d times", pod.Name, status.RestartCount)
			}
		}
	}
	if len(list.Items) != len(p.known) {
		return fmt.Errorf("the operator has %d Pods, not %d", len(list.Items), len(p.known))
	}
	return nil
}

// Metrics forwards a port of this machine to a Pod's metrics.
func (p *pods) Metrics(ctx context.Context) (string, error) {
	for _, name := range p.known {
		return forward(ctx, operatorNamespace, name, metricsPort)
	}
	return "", errors.New("the operator has no Pod")
}

// Stop has nothing to do: the Pods go with their namespace.
func (p *pods) Stop() error { return nil }
