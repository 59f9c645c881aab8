package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/cluster"
)

type pods struct {
	// known maps each current Pod to the number of times that the suite has killed its container.
	known map[types.UID]int32
}

func newPods() *pods { return &pods{known: map[types.UID]int32{}} }

func setImage(deployment *unstructured.Unstructured) error {
	if !isDeployment(deployment) {
		return nil
	}
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return errors.Join(err, fmt.Errorf("got %d containers in the operator's Deployment, want 1", len(containers)))
	}
	containers[0].(map[string]any)["image"] = operatorImage
	return unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")
}

func (p *pods) Start(ctx context.Context) error { return p.Scale(ctx, 1) }

// Scale sets the number of replicas and waits until they are ready.
func (p *pods) Scale(ctx context.Context, replicas int) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas)}}
	if err := k8sClient.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
		return err
	}
	return p.settle(ctx, replicas)
}

// settle waits until the given number of Pods are ready, and then stores them in p.known.
func (p *pods) settle(ctx context.Context, replicas int) error {
	var list *corev1.PodList
	err := waitFor(ctx, func(ctx context.Context) error {
		var err error
		if list, err = p.list(ctx); err != nil {
			return err
		}
		if len(list.Items) != replicas {
			return fmt.Errorf("got %d Pods of the operator, want %d", len(list.Items), replicas)
		}
		for _, pod := range list.Items {
			if !isReady(pod) || restarts(pod) < p.known[pod.UID] {
				return fmt.Errorf("operator Pod %s is not ready%s", pod.Name, waitingReason(pod))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	before := p.known
	p.known = map[types.UID]int32{}
	for _, pod := range list.Items {
		p.known[pod.UID] = before[pod.UID]
	}
	return nil
}

func (p *pods) list(ctx context.Context) (*corev1.PodList, error) {
	list := &corev1.PodList{}
	return list, k8sClient.List(ctx, list, client.InNamespace(operatorNamespace), client.MatchingLabels{"control-plane": "controller-manager"})
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

func waitingReason(pod corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return fmt.Sprintf(": %s %s", waiting.Reason, waiting.Message)
		}
	}
	return ""
}

// KillLeader kills the leader with SIGKILL, like the OOM killer, and waits for its replacement. On kind, it kills the
// process on the node, and the kubelet restarts the container. On other clusters, it force-deletes the Pod, so the
// leader may still release its Lease.
func (p *pods) KillLeader(ctx context.Context) error {
	holder, err := leader(ctx)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(holder, "_")
	pod := &corev1.Pod{}
	if err := k8sClient.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, pod); err != nil {
		return fmt.Errorf("cannot find the Pod of the leader %q: %w", name, err)
	}
	replicas := len(p.known)
	if testCluster.Provider == cluster.Kind {
		if err := killProcess(ctx, pod); err != nil {
			return err
		}
		p.known[pod.UID]++
	} else if err := k8sClient.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
		return err
	}
	return p.settle(ctx, replicas)
}

// killProcess kills the operator's process in a Pod. It finds the process by its cgroup, whose name contains the Pod's
// UID.
func killProcess(ctx context.Context, pod *corev1.Pod) error {
	const script = `for process in $(pgrep -x manager); do
	  if grep -Eq "$1" "/proc/$process/cgroup"; then kill -KILL "$process" && exit 0; fi
	done
	echo "the Pod has no running manager process" >&2; exit 1`
	uid := strings.ReplaceAll(string(pod.UID), "-", "[-_]") // systemd uses underscores
	kill := exec.CommandContext(ctx, "docker", "exec", pod.Spec.NodeName, "sh", "-c", script, "sh", uid)
	if output, err := kill.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot kill the operator in Pod %s: %w: %s", pod.Name, err, output)
	}
	return nil
}

func restarts(pod corev1.Pod) (count int32) {
	for _, status := range pod.Status.ContainerStatuses {
		count += status.RestartCount
	}
	return count
}

func (p *pods) CheckRestarts(ctx context.Context) error {
	list, err := p.list(ctx)
	if err != nil {
		return err
	}
	for _, pod := range list.Items {
		expected, known := p.known[pod.UID]
		if !known {
			return fmt.Errorf("operator Pod %s was not created by this suite", pod.Name)
		}
		if restarts(pod) != expected {
			return fmt.Errorf("got %d restarts of operator Pod %s, want %d", restarts(pod), pod.Name, expected)
		}
	}
	if len(list.Items) != len(p.known) {
		return fmt.Errorf("got %d Pods of the operator, want %d", len(list.Items), len(p.known))
	}
	return nil
}

// Stop does nothing, because the Pods are deleted together with their namespace.
func (p *pods) Stop() error { return nil }
