package e2e

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/fixtures/prober/probes"
)

const proberKey = "prober"

func stopProber(ctx context.Context, env *scenario.Env) (probes.Summary, error) {
	pod, err := scenario.Get[*corev1.Pod](env, proberKey)
	if err != nil {
		return probes.Summary{}, err
	}
	// Use a deadline to stop the Pod. Deleting the Pod would also delete its log.
	running := client.MergeFrom(pod.DeepCopy())
	pod.Spec.ActiveDeadlineSeconds = new(int64(1))
	if err := k8sClient.Patch(ctx, pod, running); err != nil {
		return probes.Summary{}, err
	}
	if err := proberEnds(ctx, pod); err != nil {
		return probes.Summary{}, err
	}
	return resultsOf(ctx, pod)
}

func proberEnds(ctx context.Context, pod *corev1.Pod) error {
	return waitFor(ctx, func(ctx context.Context) error {
		err := k8sClient.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if statuses := pod.Status.ContainerStatuses; err == nil && (len(statuses) == 0 || statuses[0].State.Terminated == nil) {
			err = fmt.Errorf("the prober is %s%s", pod.Status.Phase, waitingReason(*pod))
		}
		return err
	})
}

func resultsOf(ctx context.Context, pod *corev1.Pod) (probes.Summary, error) {
	text, err := logOf(ctx, pod)
	if err != nil {
		return probes.Summary{}, err
	}
	return probes.Parse(strings.NewReader(text))
}

func logOf(ctx context.Context, pod *corev1.Pod) (string, error) {
	text, err := clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	return string(text), err
}

// newProber starts a prober in its own namespace, so that the namespace of the scenario contains no other objects.
func newProber(ctx context.Context, args ...string) (*corev1.Pod, error) {
	namespace, err := newNamespace(ctx, "prober")
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "prober"},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:        new(int64(600)), // in case the run is killed
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "prober", Image: proberImage, Args: args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					ReadOnlyRootFilesystem:   new(true),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	return pod, k8sClient.Create(ctx, pod)
}
