package controlplane_test

import (
	"bytes"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The fake kubelet", func() {
	logOf := func(ctx SpecContext, pod *corev1.Pod, options corev1.PodLogOptions) (io.ReadCloser, error) {
		return kubernetes.NewForConfigOrDie(cp.Config).CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	}

	It("serves empty logs", func(ctx SpecContext) {
		stream, err := logOf(ctx, runningPod(ctx, newNamespace(ctx)), corev1.PodLogOptions{Container: "main"})
		Expect(err).NotTo(HaveOccurred())
		Expect(io.ReadAll(stream)).To(BeEmpty())
	})

	for protocol, executor := range map[string]func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error){
		"SPDY": func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(cp.Config, "POST", ofPod(pod, subresource, options).URL())
		},
		"WebSocket": func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(cp.Config, "GET", ofPod(pod, subresource, options).URL().String())
		},
	} {
		It("supports exec over "+protocol+", and rejects attach", func(ctx SpecContext) {
			pod := runningPod(ctx, newNamespace(ctx))
			for range 50 { // a client rarely loses data when the server closes the connection first
				executing, err := executor(pod, "exec", &corev1.PodExecOptions{Command: []string{"date"}, Stdin: true, Stdout: true, Stderr: true})
				Expect(err).NotTo(HaveOccurred())
				Expect(executing.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: bytes.NewBufferString("ignored"), Stdout: io.Discard, Stderr: io.Discard})).To(Succeed())
			}

			attaching, err := executor(pod, "attach", &corev1.PodExecOptions{Stdout: true})
			Expect(err).NotTo(HaveOccurred())
			Expect(attaching.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})).To(
				MatchError(ContainSubstring("only supports logs and exec")))
		})
	}

	It("rejects commands in a completed Pod", func(ctx SpecContext) {
		pod := newPod(newNamespace(ctx))
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		Expect(cp.Client.Create(ctx, pod)).To(Succeed())
		Eventually(phaseOf).WithArguments(ctx, pod).Should(Equal(corev1.PodSucceeded))
		Expect(logOf(ctx, pod, corev1.PodLogOptions{Follow: true})).Error().NotTo(HaveOccurred())
		executing, err := remotecommand.NewSPDYExecutor(cp.Config, "POST", ofPod(pod, "exec", &corev1.PodExecOptions{Command: []string{"date"}, Stdout: true}).URL())
		Expect(err).NotTo(HaveOccurred())
		Expect(executing.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})).To(
			MatchError(ContainSubstring(`container not found ("main"): the Pod is Succeeded`)))
	})
})

func ofPod(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) *rest.Request {
	return kubernetes.NewForConfigOrDie(cp.Config).CoreV1().RESTClient().Post().
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource(subresource).VersionedParams(options, scheme.ParameterCodec)
}

func newPod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "pod-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:v1"}}},
	}
}

func runningPod(ctx SpecContext, namespace string) *corev1.Pod {
	GinkgoHelper()
	pod := newPod(namespace)
	Expect(cp.Client.Create(ctx, pod)).To(Succeed())
	Eventually(phaseOf).WithArguments(ctx, pod).Should(Equal(corev1.PodRunning))
	return pod
}

func phaseOf(ctx SpecContext, pod *corev1.Pod) (corev1.PodPhase, error) {
	err := cp.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
	return pod.Status.Phase, err
}
