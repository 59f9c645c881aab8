package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operator-assay/assay/harness/controlplane"
)

// timeout is long enough for an overloaded machine.
const timeout = 30 * time.Second

// played runs Play with a fake clientset. There is no Job controller, so the tests create the Pods.
type played struct {
	Gomega
	clientset kubernetes.Interface
	mu        sync.Mutex        // held while logs changes after its Pod was created
	logs      map[string]string // by Pod
	progress  bytes.Buffer
	results   map[int]string
	err       error
	done      chan struct{}
}

// start calls Play in the background. It must be called in a synctest bubble.
func start(ctx context.Context, t *testing.T, job Job) *played {
	t.Helper()
	clientset := fake.NewClientset()
	clientset.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		action.(clienttesting.CreateAction).GetObject().(*batchv1.Job).Name = "job"
		return false, nil, nil
	})
	p := &played{Gomega: NewWithT(t), clientset: clientset, logs: map[string]string{}, results: map[int]string{}, done: make(chan struct{})}
	c := &Cluster{clientset: clientset, logs: func(_ context.Context, pod string) (io.ReadCloser, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		log, exists := p.logs[pod]
		if !exists {
			return nil, errors.New("no log")
		}
		return io.NopCloser(strings.NewReader(log)), nil
	}}
	go func() {
		defer close(p.done)
		p.err = c.Play(ctx, job, &p.progress, func(shard int, result []byte) error {
			p.results[shard] = string(result)
			return nil
		})
	}()
	synctest.Wait()
	return p
}

// pod creates a Pod for the Job and waits until Play has seen it.
func (p *played) pod(t *testing.T, name string, index int, status corev1.PodStatus) {
	t.Helper()
	_, err := p.clientset.CoreV1().Pods("").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Labels: map[string]string{batchv1.JobNameLabel: "job"},
		Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)},
	}, Status: status}, metav1.CreateOptions{})
	p.Expect(err).NotTo(HaveOccurred())
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

func exited(code int32) corev1.PodStatus {
	return status(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}})
}

func status(state corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}}
}

func (p *played) jobs(t *testing.T) []batchv1.Job {
	jobs, err := p.clientset.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	p.Expect(err).NotTo(HaveOccurred())
	return jobs.Items
}

// end marks the Job as failed. The timestamp is one hour old, as if the cluster's clock were an hour slow.
func (p *played) end(ctx context.Context) error {
	failed := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	failed.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))}}
	_, err := p.clientset.BatchV1().Jobs("").Update(ctx, failed, metav1.UpdateOptions{})
	return err
}

func TestFailedPodIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t.Context(), t, Job{Shards: 2})
		p.logs["first"], p.logs["second"], p.logs["other"] = "explore\nkilled\n", logOf(t, []byte("two")), logOf(t, []byte("one"))
		p.pod(t, "first", 1, exited(137))
		p.pod(t, "running", 1, status(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}))
		p.pod(t, "evicted", 1, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"})
		p.pod(t, "second", 1, exited(0))
		p.pod(t, "other", 0, exited(0))
		<-p.done
		p.Expect(p.err).NotTo(HaveOccurred())
		p.Expect(p.results).To(Equal(map[int]string{1: "one", 2: "two"}))
		for _, want := range []string{"--selector batch.kubernetes.io/job-name=job`\n", "shard 2/2: Pod first exited with code 137 (Error), last log line: killed\n",
			"shard 2/2: Pod evicted failed before its container exited (Evicted)\n", "shard 2/2: done; 1 left\n"} {
			p.Expect(p.progress.String()).To(ContainSubstring(want))
		}
		p.Expect(p.jobs(t)).To(BeEmpty())
	})
}

func TestUnreadableLogIsRetried(t *testing.T) {
	for _, hasEnded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := start(t.Context(), t, Job{Shards: 1})
			if hasEnded {
				p.Expect(p.end(t.Context())).To(Succeed())
			}
			p.pod(t, "first", 0, exited(0))
			p.mu.Lock()
			p.logs["first"] = logOf(t, []byte("one"))
			p.mu.Unlock()
			<-p.done
			p.Expect(p.err).NotTo(HaveOccurred())
			p.Expect(p.progress.String()).To(ContainSubstring("shard 1/1: cannot read the log of Pod first: no log\n"))
		})
	}
}

func TestUnreadableLogDoesNotBlockOtherShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t.Context(), t, Job{Shards: 2})
		p.logs["two"] = logOf(t, []byte("two"))
		p.pod(t, "one", 0, exited(0))
		p.pod(t, "two", 1, exited(0))
		p.Expect(p.results).To(Equal(map[int]string{2: "two"}))
		p.Expect(p.end(t.Context())).To(Succeed())
		<-p.done
		p.Expect(p.err).To(MatchError("Job job has finished, but the results of 1 of 2 shards are missing\n" +
			"shard 1/2: cannot read the log of Pod one: no log"))
	})
}

func TestPermanentFailureIsNotRetried(t *testing.T) {
	for want, pod := range map[string]corev1.PodStatus{
		"shard 2/2: Pod first exited with code 2 (Error), last log line: error: --seed is wrong": exited(usageError),
		"shard 2/2: ImagePullBackOff: no such host: check that the nodes can pull the image": status(
			corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such host"}}),
	} {
		synctest.Test(t, func(t *testing.T) {
			p := start(t.Context(), t, Job{Shards: 2})
			p.logs["first"] = "error: --seed is wrong\n"
			p.pod(t, "first", 1, pod)
			<-p.done
			p.Expect(p.err).To(MatchError(want))
			p.Expect(p.jobs(t)).To(BeEmpty())
		})
	}
}

func TestFinishedJobReportsMissingShards(t *testing.T) {
	for what, end := range map[string]func(context.Context, *played) error{
		"was deleted": func(ctx context.Context, p *played) error {
			return p.clientset.BatchV1().Jobs("").Delete(ctx, "job", metav1.DeleteOptions{})
		},
		"has finished": func(ctx context.Context, p *played) error { return p.end(ctx) },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := start(t.Context(), t, Job{Shards: 3})
			p.logs["one"], p.logs["two"] = logOf(t, []byte("one")), "killed\n"
			p.pod(t, "one", 0, exited(0))
			p.pod(t, "two", 1, exited(137))
			p.Expect(end(t.Context(), p)).To(Succeed())
			<-p.done
			p.Expect(p.err).To(MatchError("Job job " + what + ", but the results of 2 of 3 shards are missing\n" +
				"shard 2/3: Pod two exited with code 137 (Error), last log line: killed\nshard 3/3: no Pod has finished"))
			p.Expect(p.results).To(Equal(map[int]string{1: "one"}))
		})
	}
}

func TestInterruptionRemovesJobUnlessKept(t *testing.T) {
	for keep, want := range map[bool]int{false: 0, true: 1} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := start(ctx, t, Job{Operator: "greeter", Shards: 1, Keep: keep})
			cancel()
			<-p.done
			p.Expect(p.err).To(MatchError(context.Canceled))
			p.Expect(p.jobs(t)).To(HaveLen(want))
			for _, job := range p.jobs(t) {
				p.Expect(job.Annotations).To(HaveKeyWithValue("assay/operator", "greeter"))
			}
		})
	}
}

func TestJobIsAdmitted(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	g := NewWithT(t)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	namespace, err := plane.CreateNamespace(t.Context(), "job")
	g.Expect(err).NotTo(HaveOccurred())
	clientset, err := kubernetes.NewForConfig(plane.Config)
	g.Expect(err).NotTo(HaveOccurred())
	restricted := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	_, err = clientset.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, restricted, metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	c := &Cluster{clientset: clientset, namespace: namespace, logs: func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(logOf(t, []byte("result")))), nil
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shards := map[int]string{}
	err = c.Play(ctx, Job{Image: "registry.example.com/explore:1", Shards: 2}, t.Output(), func(shard int, result []byte) error {
		shards[shard] = string(result)
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shards).To(Equal(map[int]string{1: "result", 2: "result"}))
	g.Eventually(func() ([]corev1.Pod, error) {
		pods, err := clientset.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return pods.Items, err
	}).WithTimeout(timeout).Should(BeEmpty())
}
