package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/operator-assay/assay/harness/controlplane"
)

// timeout is long enough for an overloaded machine.
const timeout = 30 * time.Second

var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	plane, err := controlplane.Start(context.Background(), controlplane.Options{})
	if err == nil {
		stop = plane.Stop
	}
	return plane, err
})

var stop = func() error { return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// nodes simulates the kubelets. Tests control when a Job's Pods start and end, and what their logs contain.
type nodes struct {
	Gomega
	*Cluster

	playing *played

	mu   sync.Mutex
	logs map[string]string // by index; a log without a result stays open
}

// newNodes returns nodes for a namespace that enforces the restricted Pod Security Standard.
func newNodes(t *testing.T) *nodes {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(timeout)
	plane, err := start()
	g.Expect(err).NotTo(HaveOccurred())
	namespace, err := plane.CreateNamespace(t.Context(), "job")
	g.Expect(err).NotTo(HaveOccurred())
	plane.PausePods(namespace)
	clientset, err := kubernetes.NewForConfig(plane.Config)
	g.Expect(err).NotTo(HaveOccurred())
	restricted := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	_, err = clientset.CoreV1().Namespaces().Patch(t.Context(), namespace, "application/merge-patch+json", restricted, metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	n := &nodes{Gomega: g, logs: map[string]string{}}
	n.Cluster = &Cluster{clientset: clientset, namespace: namespace, logs: n.log, pollInterval: 20 * time.Millisecond}
	return n
}

// log returns a Pod's log. It stays open until it contains a result or ctx is done.
func (n *nodes) log(ctx context.Context, name string) (io.ReadCloser, error) {
	pod, err := n.clientset.CoreV1().Pods(n.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.logs[pod.Annotations[batchv1.JobCompletionIndexAnnotation]]
	if strings.Contains(text, endMark) || pod.Status.Phase == corev1.PodFailed {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	go func() { _, _ = io.WriteString(writer, text) }()
	return reader, nil
}

func (n *nodes) write(index int, log string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.logs[fmt.Sprint(index)] = log
}

func (n *nodes) pods(ctx context.Context, index int) []corev1.Pod {
	all, err := n.clientset.CoreV1().Pods(n.namespace).List(ctx, metav1.ListOptions{})
	n.Expect(err).NotTo(HaveOccurred())
	var pods []corev1.Pod
	for _, pod := range all.Items {
		if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == fmt.Sprint(index) && pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

// become waits for a running or pending Pod with the given index and sets its phase. It returns the Pod's name.
func (n *nodes) become(ctx context.Context, index int, phase corev1.PodPhase, exitCode int32) (name string) {
	n.Eventually(func() error {
		for _, pod := range n.pods(ctx, index) {
			if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
				continue
			}
			pod.Status.Phase = phase
			if phase != corev1.PodRunning {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "explore", State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: "Error"},
				}}}
			}
			name = pod.Name
			_, err := n.clientset.CoreV1().Pods(n.namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
			return err
		}
		select {
		case <-n.playing.done:
			return StopTrying(fmt.Sprintf("Play has returned: %v", n.playing.err))
		default:
			return fmt.Errorf("no running Pod of index %d; output: %s", index, n.playing.output())
		}
	}).Should(Succeed())
	return name
}

type played struct {
	mu       sync.Mutex
	progress bytes.Buffer
	results  map[int]string
	err      error
	done     chan struct{}
}

func (p *played) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.progress.Write(text)
}

func (p *played) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.progress.String()
}

func (n *nodes) play(ctx context.Context, job Job) *played {
	p := &played{results: map[int]string{}, done: make(chan struct{})}
	n.playing = p
	job.Project, job.Image = "My Operator", "registry.example.com/explore:1"
	go func() {
		defer close(p.done)
		p.err = n.Play(ctx, job, p, func(shard int, result []byte) error {
			p.results[shard] = string(result)
			return nil
		})
	}()
	return p
}

func (n *nodes) expectNothingLeft(ctx context.Context) {
	n.Eventually(func() int {
		jobs, err := n.clientset.BatchV1().Jobs(n.namespace).List(ctx, metav1.ListOptions{})
		n.Expect(err).NotTo(HaveOccurred())
		pods, err := n.clientset.CoreV1().Pods(n.namespace).List(ctx, metav1.ListOptions{})
		n.Expect(err).NotTo(HaveOccurred())
		return len(jobs.Items) + len(pods.Items)
	}).Should(BeZero())
}

func TestPlayRunsGivenShards(t *testing.T) {
	n := newNodes(t)
	n.write(0, logOf(t, []byte("two")))
	n.write(1, logOf(t, []byte("four")))
	p := n.play(t.Context(), Job{Shards: []int{2, 4}, Of: 4})
	for index := range 2 {
		n.become(t.Context(), index, corev1.PodSucceeded, 0) // shows that restricted Pods are admitted
	}
	n.Eventually(p.done).Should(BeClosed())
	n.Expect(p.err).NotTo(HaveOccurred())
	n.Expect(p.results).To(Equal(map[int]string{2: "two", 4: "four"}))
	n.Expect(p.output()).To(MatchRegexp(`(?s)^Job job-\S+/assay-my-operator-\w+ runs shards 2, 4 of 4\n.*shard 4/4: explore    1 of 2 plans\n`))
	n.expectNothingLeft(t.Context())
}

func TestPodOfFailedNodeIsReplaced(t *testing.T) {
	n := newNodes(t)
	n.write(0, "explore    1 of 9 plans\n")
	p := n.play(t.Context(), Job{Shards: []int{1}, Of: 1})
	first := n.become(t.Context(), 0, corev1.PodRunning, 0)
	// A Pod on an unreachable node stays in the terminating state after it is deleted.
	n.keepPod(t.Context(), first)
	n.Expect(n.clientset.CoreV1().Pods(n.namespace).Delete(t.Context(), first, metav1.DeleteOptions{})).To(Succeed())
	n.Eventually(p.output).Should(ContainSubstring("shard 1/1: Pod " + first + " on node")) // it is no longer followed
	n.write(0, logOf(t, []byte("all")))
	n.replacePod(t.Context(), first)
	n.Expect(n.become(t.Context(), 0, corev1.PodSucceeded, 0)).NotTo(Equal(first))
	n.Eventually(p.done).Should(BeClosed())
	n.Expect(p.err).NotTo(HaveOccurred())
	n.Expect(p.results).To(Equal(map[int]string{1: "all"}))
	n.dropFinalizers(t.Context(), first)
	n.expectNothingLeft(t.Context())
}

// replacePod creates a replacement for a Pod. The Job controller would take 10s to do this.
func (n *nodes) replacePod(ctx context.Context, name string) {
	old, err := n.clientset.CoreV1().Pods(n.namespace).Get(ctx, name, metav1.GetOptions{})
	n.Expect(err).NotTo(HaveOccurred())
	replacement := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		GenerateName: old.GenerateName, Labels: old.Labels, Annotations: old.Annotations, OwnerReferences: old.OwnerReferences,
		Finalizers: []string{batchv1.JobTrackingFinalizer},
	}, Spec: *old.Spec.DeepCopy()}
	_, err = n.clientset.CoreV1().Pods(n.namespace).Create(ctx, replacement, metav1.CreateOptions{})
	n.Expect(err).NotTo(HaveOccurred())
}

const testFinalizer = "assay.example.com/node"

func (n *nodes) keepPod(ctx context.Context, name string) {
	pod, err := n.clientset.CoreV1().Pods(n.namespace).Get(ctx, name, metav1.GetOptions{})
	n.Expect(err).NotTo(HaveOccurred())
	pod.Finalizers = append(pod.Finalizers, testFinalizer)
	_, err = n.clientset.CoreV1().Pods(n.namespace).Update(ctx, pod, metav1.UpdateOptions{})
	n.Expect(err).NotTo(HaveOccurred())
}

func (n *nodes) dropFinalizers(ctx context.Context, name string) {
	_, err := n.clientset.CoreV1().Pods(n.namespace).Patch(ctx, name, "application/merge-patch+json", []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	n.Expect(err == nil || apierrors.IsNotFound(err)).To(BeTrue())
}

func TestUsageErrorIsNotRetried(t *testing.T) {
	n := newNodes(t)
	n.write(0, "error: --seed is wrong\n")
	p := n.play(t.Context(), Job{Shards: []int{1, 2}, Of: 2})
	n.become(t.Context(), 0, corev1.PodFailed, usageError)
	n.Eventually(p.done).Should(BeClosed())
	n.Expect(p.err).To(MatchError(MatchRegexp(`^shard 1/2: Pod \S+ .*\b2 \(Error\), .*: error: --seed is wrong$`)))
	n.expectNothingLeft(t.Context())
}

func TestDeletedJobIsAnError(t *testing.T) {
	n := newNodes(t)
	p := n.play(t.Context(), Job{Shards: []int{1, 3}, Of: 3})
	n.become(t.Context(), 1, corev1.PodRunning, 0)
	n.write(0, logOf(t, []byte("one")))
	n.become(t.Context(), 0, corev1.PodSucceeded, 0)
	jobs, err := n.clientset.BatchV1().Jobs(n.namespace).List(t.Context(), metav1.ListOptions{})
	n.Expect(err).NotTo(HaveOccurred())
	n.Eventually(p.output).Should(ContainSubstring("shard 1/3: done"))
	n.Expect(n.remove(t.Context(), jobs.Items[0].Name)).To(Succeed())
	n.Eventually(p.done).Should(BeClosed())
	n.Expect(p.err).To(MatchError(MatchRegexp(`^Job \S+ was deleted: .* shard 3 of 3 .*: rerun the command`)))
	n.Expect(p.results).To(Equal(map[int]string{1: "one"}))
}

func TestInterruptionRemovesJobUnlessKept(t *testing.T) {
	for _, keep := range []bool{false, true} {
		n := newNodes(t)
		ctx, cancel := context.WithCancel(t.Context())
		p := n.play(ctx, Job{Shards: []int{1}, Of: 1, Keep: keep})
		n.become(t.Context(), 0, corev1.PodRunning, 0)
		cancel()
		n.Eventually(p.done).Should(BeClosed())
		n.Expect(p.err).To(MatchError(context.Canceled))
		if !keep {
			n.expectNothingLeft(t.Context())
			continue
		}
		jobs, err := n.clientset.BatchV1().Jobs(n.namespace).List(t.Context(), metav1.ListOptions{})
		n.Expect(err).NotTo(HaveOccurred())
		n.Expect(jobs.Items).To(HaveLen(1))
	}
}

func TestImagePullFailureIsAnError(t *testing.T) {
	n := newNodes(t)
	p := n.play(t.Context(), Job{Shards: []int{1}, Of: 1})
	n.Eventually(func() error {
		for _, pod := range n.pods(t.Context(), 0) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "explore", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such host"},
			}}}
			_, err := n.clientset.CoreV1().Pods(n.namespace).UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{})
			return err
		}
		return errors.New("the Job has no Pod")
	}).Should(Succeed())
	n.Eventually(p.done).Should(BeClosed())
	n.Expect(p.err).To(MatchError(HavePrefix("shard 1/1: ImagePullBackOff: no such host: ")))
	n.expectNothingLeft(t.Context())
}
