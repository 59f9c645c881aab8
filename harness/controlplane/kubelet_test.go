package controlplane_test

import (
	"bytes"
	"errors"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
)

var _ = Describe("The fake kubelet", func() {
	logOf := func(ctx SpecContext, pod *corev1.Pod, options corev1.PodLogOptions) (io.ReadCloser, error) {
		return kubernetes.NewForConfigOrDie(cp.Config).CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	}

	It("serves the logs in the annotation", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		for log, annotations := range map[string]map[string]string{
			"":                 nil,
			"ready\nto rock\n": {controlplane.LogsAnnotation: "ready\nto rock\n"},
		} {
			stream, err := logOf(ctx, runningPod(ctx, namespace, annotations), corev1.PodLogOptions{Container: "main"})
			Expect(err).NotTo(HaveOccurred())
			Expect(io.ReadAll(stream)).To(BeEquivalentTo(log))
		}
	})

	for protocol, executor := range map[string]func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error){
		"SPDY": func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(cp.Config, "POST", ofPod(pod, subresource, options).URL())
		},
		"WebSocket": func(pod *corev1.Pod, subresource string, options *corev1.PodExecOptions) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(cp.Config, "GET", ofPod(pod, subresource, options).URL().String())
		},
	} {
		run := func(ctx SpecContext, pod *corev1.Pod, command ...string) (stdout, stderr string, err error) {
			GinkgoHelper()
			executing, err := executor(pod, "exec", &corev1.PodExecOptions{Command: command, Stdin: true, Stdout: true, Stderr: true})
			Expect(err).NotTo(HaveOccurred())
			var out, complaint bytes.Buffer
			err = executing.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: bytes.NewBufferString("ignored"), Stdout: &out, Stderr: &complaint})
			return out.String(), complaint.String(), err
		}

		It("supports exec over "+protocol, func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			stdout, stderr, err := run(ctx, runningPod(ctx, namespace, nil), "redis-cli", "info")
			Expect([]any{stdout, stderr, err}).To(Equal([]any{"", "", nil}), "without the annotation, a command has no output")

			pod := runningPod(ctx, namespace, map[string]string{controlplane.ExecAnnotation: `
- {command: redis-cli info, stdout: "role:master"}
- {command: redis-cli, stderr: "no such command", exitCode: 3}`})
			stdout, _, err = run(ctx, pod, "redis-cli", "info", "replication")
			Expect([]any{stdout, err}).To(Equal([]any{"role:master", nil}), "the first matching entry is used")
			for range 50 { // a client rarely loses data when the server closes the connection first
				_, stderr, err = run(ctx, pod, "redis-cli", "dance")
				var failed exec.CodeExitError
				Expect(errors.As(err, &failed)).To(BeTrue(), "%v", err)
				Expect(failed.Code).To(Equal(3))
				Expect(stderr).To(Equal("no such command"))
			}
			stdout, stderr, err = run(ctx, pod, "date")
			Expect([]any{stdout, stderr, err}).To(Equal([]any{"", "", nil}), "without a matching entry, a command has no output")
		})

		It("returns the reason for a rejected command over "+protocol, func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			_, _, err := run(ctx, runningPod(ctx, namespace, map[string]string{controlplane.ExecAnnotation: "- {comand: date}"}), "date")
			Expect(err).To(MatchError(And(ContainSubstring("annotation assay.dev/exec of Pod"), ContainSubstring(`unknown field "comand"`))))

			attaching, err := executor(runningPod(ctx, namespace, nil), "attach", &corev1.PodExecOptions{Stdout: true})
			Expect(err).NotTo(HaveOccurred())
			Expect(attaching.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})).To(
				MatchError(ContainSubstring("only supports logs and exec")))
		})
	}

	It("rejects commands in a completed Pod", func(ctx SpecContext) {
		pod := newPod(newNamespace(ctx), nil)
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

func newPod(namespace string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "pod-", Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:v1"}}},
	}
}

func runningPod(ctx SpecContext, namespace string, annotations map[string]string) *corev1.Pod {
	GinkgoHelper()
	pod := newPod(namespace, annotations)
	Expect(cp.Client.Create(ctx, pod)).To(Succeed())
	Eventually(phaseOf).WithArguments(ctx, pod).Should(Equal(corev1.PodRunning))
	return pod
}

func phaseOf(ctx SpecContext, pod *corev1.Pod) (corev1.PodPhase, error) {
	err := cp.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
	return pod.Status.Phase, err
}
