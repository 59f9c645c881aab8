package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// pods run the operator by its Deployment.
type pods struct {
	// known are the Pods that the suite has started, and how often it has ended their container.
	known map[types.UID]int32
}

func newPods() *pods { return &pods{known: map[types.UID]int32{}} }

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

// Scale sets the replicas of the Deployment.
func (p *pods) Scale(ctx context.Context, replicas int) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas)}}
	if err := k8sClient.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
		return err
	}
	return p.settle(ctx, replicas)
}

// settle waits until so many Pods are ready, records them and starts to read their logs.
func (p *pods) settle(ctx context.Context, replicas int) error {
	var list *corev1.PodList
	err := waitFor(ctx, func(ctx context.Context) error {
		var err error
		if list, err = p.list(ctx); err != nil {
			return err
		}
		if len(list.Items) != replicas {
			return fmt.Errorf("the operator has %d Pods, not %d", len(list.Items), replicas)
		}
		for _, pod := range list.Items {
			if !isReady(pod) || restarts(pod) < p.known[pod.UID] {
				return fmt.Errorf("the operator's Pod %s is not ready%s", pod.Name, waitingReason(pod))
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
		if err := follow(ctx, pod); err != nil {
			return err
		}
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

// waitingReason is the kubelet's reason why a container does not run.
func waitingReason(pod corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return fmt.Sprintf(": %s %s", waiting.Reason, waiting.Message)
		}
	}
	return ""
}

// follow writes the log of a Pod's container to a file until the container ends, since it may be deleted with the container.
// It is no error if it does so already.
func follow(ctx context.Context, pod corev1.Pod) error {
	log, err := operatorLog(fmt.Sprintf("%s-%d", pod.Name, restarts(pod)))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stream, err := clientset.CoreV1().Pods(operatorNamespace).GetLogs(pod.Name, &corev1.PodLogOptions{Follow: true}).Stream(context.WithoutCancel(ctx))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	go func() {
		defer stream.Close()
		defer log.Close()
		_, _ = io.Copy(log, stream) // the log ends with its container
	}()
	return nil
}

// KillLeader kills the leader as the kernel does when memory runs out. On kind the process is killed through its node, and the
// kubelet restarts the container. Elsewhere the Pod is deleted by force, and may release its Lease before it ends.
func (p *pods) KillLeader(ctx context.Context) error {
	holder, err := leader(ctx)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(holder, "_")
	pod := &corev1.Pod{}
	if err := k8sClient.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, pod); err != nil {
		return fmt.Errorf("the leader %q cannot be found: %w", name, err)
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

// killProcess kills the manager of a Pod, which is known by the cgroup that is named after the Pod's UID.
func killProcess(ctx context.Context, pod *corev1.Pod) error {
	const script = `for process in $(pgrep -x manager); do
	  if grep -Eq "$1" "/proc/$process/cgroup"; then kill -KILL "$process" && exit 0; fi
	done
	echo "no process of the Pod runs" >&2; exit 1`
	uid := strings.ReplaceAll(string(pod.UID), "-", "[-_]") // systemd's cgroups have underscores
	kill := exec.CommandContext(ctx, "docker", "exec", pod.Spec.NodeName, "sh", "-c", script, "sh", uid)
	if said, err := kill.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot kill the operator in Pod %s: %w: %s", pod.Name, err, said)
	}
	return nil
}

// restarts is how often the kubelet has restarted the Pod's containers.
func restarts(pod corev1.Pod) (count int32) {
	for _, status := range pod.Status.ContainerStatuses {
		count += status.RestartCount
	}
	return count
}

// Undisturbed returns an error if a Pod was replaced or a container was restarted, and not by the suite.
func (p *pods) Undisturbed(ctx context.Context) error {
	list, err := p.list(ctx)
	if err != nil {
		return err
	}
	for _, pod := range list.Items {
		expected, known := p.known[pod.UID]
		if !known {
			return fmt.Errorf("the operator's Pod %s has come by itself", pod.Name)
		}
		if restarts(pod) != expected {
			return fmt.Errorf("the operator's container in %s has been started again %d times, %d of them by this suite", pod.Name, restarts(pod), expected)
		}
	}
	if len(list.Items) != len(p.known) {
		return fmt.Errorf("the operator has %d Pods, not %d", len(list.Items), len(p.known))
	}
	return nil
}

// Metrics forwards a port of this machine to a Pod's metrics.
func (p *pods) Metrics(ctx context.Context) (string, error) {
	list, err := p.list(ctx)
	if err != nil {
		return "", err
	}
	if len(list.Items) == 0 {
		return "", errors.New("the operator has no Pod")
	}
	return portForward(ctx, operatorNamespace, list.Items[0].Name, metricsPort)
}

// Stop has nothing to do: the Pods are deleted with their namespace.
func (p *pods) Stop() error { return nil }
