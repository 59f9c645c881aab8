package incluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/wait"
)

const (
	// pollInterval is long, because an exploration takes minutes.
	pollInterval = time.Second
	// removeTimeout is the timeout for removing the Job. It also applies after ctx is canceled.
	removeTimeout = 30 * time.Second
	// logTimeout limits how long sync keeps trying to read logs after the Job has finished. It is long enough to
	// tolerate a brief network failure.
	logTimeout = time.Minute
	// usageError is the exit code for invalid arguments. Another Pod would fail in the same way.
	usageError = 2
)

// Play runs a Job and calls fetched with the result of each shard. If that call fails, Play stops and returns the
// error. If shards are missing, the error lists them with the reasons. Play removes the Job and its Pods before it
// returns, unless job.Keep is set.
func (c *Cluster) Play(ctx context.Context, job Job, progress io.Writer, fetched func(shard int, result []byte) error) (err error) {
	created, err := c.clientset.BatchV1().Jobs(c.namespace).Create(ctx, job.object(), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("cannot create the Job: %w", err)
	}
	if !job.Keep {
		defer func() { err = errors.Join(err, c.remove(context.WithoutCancel(ctx), created.Name)) }()
	}
	p := &play{cluster: c, job: created, of: job.Shards, progress: progress, fetched: fetched,
		missing: map[int]string{}, read: sets.New[types.UID](), printed: sets.New[string]()}
	for shard := range job.Shards {
		p.missing[shard+1] = ""
	}
	p.print("Job %s/%s runs %d shards; to follow them, run `kubectl logs --follow --prefix --max-log-requests %[3]d --namespace %[1]s --selector %[4]s`",
		c.namespace, created.Name, job.Shards, selectorOf(created.Name))
	return wait.For(ctx, 0, wait.Poll(pollInterval), p.sync)
}

func selectorOf(job string) string { return batchv1.JobNameLabel + "=" + job }

// remove deletes the Job. It deletes the Pods without a grace period, because otherwise Pods on a failed node would
// never be removed.
func (c *Cluster) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err := c.clientset.BatchV1().Jobs(c.namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete Job %s/%s: %w: delete it by hand", c.namespace, name, err)
	}
	// Ignore the error, because the garbage collector also deletes the Pods.
	_ = c.clientset.CoreV1().Pods(c.namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{LabelSelector: selectorOf(name)})
	return nil
}

type play struct {
	cluster  *Cluster
	job      *batchv1.Job
	of       int
	progress io.Writer
	fetched  func(shard int, result []byte) error

	missing map[int]string      // why no result was read from the shard's last Pod, or "" if no Pod has terminated
	read    sets.Set[types.UID] // the terminated Pods that have been handled
	printed sets.Set[string]

	isLogUnreadable bool      // in the last sync
	ended           time.Time // when sync first saw that the Job had finished
}

// sync reads the logs of the Pods that have terminated. It returns nil when all results are available. It gets the Job
// before it lists the Pods, so that the list is complete if the Job has finished.
func (p *play) sync(ctx context.Context) error {
	job, err := p.cluster.clientset.BatchV1().Jobs(p.cluster.namespace).Get(ctx, p.job.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return wait.Stop(p.missingError("was deleted"))
	}
	if err != nil {
		return p.retry(fmt.Errorf("cannot get Job %s: %w", p.job.Name, err))
	}
	pods, err := p.cluster.clientset.CoreV1().Pods(p.cluster.namespace).List(ctx, metav1.ListOptions{LabelSelector: selectorOf(p.job.Name)})
	if err != nil {
		return p.retry(fmt.Errorf("cannot list the Pods of Job %s: %w", p.job.Name, err))
	}
	p.printWarnings(ctx)
	p.isLogUnreadable = false
	for _, pod := range pods.Items {
		if err := p.handle(ctx, &pod); err != nil {
			return err
		}
	}
	if len(p.missing) == 0 {
		return nil
	}
	for _, condition := range job.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && condition.Type != batchv1.JobSuspended {
			p.ended = cmp.Or(p.ended, time.Now())
			if p.isLogUnreadable && time.Since(p.ended) < logTimeout {
				break
			}
			return wait.Stop(p.missingError("has finished"))
		}
	}
	return fmt.Errorf("%d shards are missing", len(p.missing))
}

// handle reads the log of a Pod that has terminated. It returns an error only if the whole run must stop. It ignores a
// Pod that is being deleted, because the Job controller replaces it.
func (p *play) handle(ctx context.Context, pod *corev1.Pod) error {
	index, _ := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation]) // the Job controller sets it
	shard := index + 1
	name := fmt.Sprintf("shard %d/%d", shard, p.of)
	if _, isMissing := p.missing[shard]; !isMissing || p.read.Has(pod.UID) || pod.DeletionTimestamp != nil {
		return nil
	}
	if why, isFinal := waitsFor(pod); isFinal {
		return wait.Stop(fmt.Errorf("%s: %s: check that the nodes can pull the image", name, why))
	} else if why != "" {
		p.print("%s: waiting: %s", name, why)
	}
	ended := terminated(pod)
	if ended == nil {
		if pod.Status.Phase == corev1.PodFailed { // because it was evicted, or its node failed
			p.read.Insert(pod.UID)
			p.note(shard, "Pod %s failed before its container exited (%s)", pod.Name, pod.Status.Reason)
		}
		return nil
	}
	result, last, err := p.readLog(ctx, pod.Name)
	if err != nil {
		p.isLogUnreadable = true
		p.note(shard, "cannot read the log of Pod %s: %s", pod.Name, err)
		return nil
	}
	p.read.Insert(pod.UID)
	if result != nil {
		if err := p.fetched(shard, result); err != nil {
			return wait.Stop(err)
		}
		delete(p.missing, shard)
		p.print("%s: done; %d left", name, len(p.missing))
		return nil
	}
	if last != "" {
		last = ", last log line: " + last
	}
	p.note(shard, "Pod %s exited with code %d (%s)%s", pod.Name, ended.ExitCode, ended.Reason, last)
	if ended.ExitCode == usageError {
		return wait.Stop(fmt.Errorf("%s: %s", name, p.missing[shard]))
	}
	return nil
}

func (p *play) note(shard int, format string, args ...any) {
	p.missing[shard] = fmt.Sprintf(format, args...)
	p.print("shard %d/%d: %s", shard, p.of, p.missing[shard])
}

func (p *play) readLog(ctx context.Context, pod string) (result []byte, last string, err error) {
	log, err := p.cluster.logs(ctx, pod)
	if err != nil {
		return nil, "", err
	}
	defer log.Close()
	return readLog(log)
}

// waitsFor returns why a Pod has not started, or "" if there is no known problem. isFinal is true if the Pod is not
// expected to start at all.
func waitsFor(pod *corev1.Pod) (why string, isFinal bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message, false
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil {
			switch waiting.Reason {
			case "ErrImageNeverPull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError":
				return waiting.Reason + ": " + waiting.Message, true
			}
		}
	}
	return "", false
}

func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Terminated != nil {
			return container.State.Terminated
		}
	}
	return nil
}

// printWarnings prints the Job's warning Events, for example about a quota that prevents it from creating Pods.
func (p *play) printWarnings(ctx context.Context) {
	about := fields.SelectorFromSet(fields.Set{"involvedObject.uid": string(p.job.UID), "type": corev1.EventTypeWarning})
	events, err := p.cluster.clientset.CoreV1().Events(p.cluster.namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String()})
	if err != nil {
		return // the user may not be allowed to read Events
	}
	for _, event := range events.Items {
		p.print("Job %s: %s", p.job.Name, event.Message)
	}
}

// retry prints the error and returns it, so that sync is called again.
func (p *play) retry(err error) error {
	p.print("%s", err)
	return err
}

// print writes a line, unless it has already written the same line.
func (p *play) print(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !p.printed.Has(line) {
		p.printed.Insert(line)
		fmt.Fprintln(p.progress, line)
	}
}

func (p *play) missingError(what string) error {
	lines := []string{fmt.Sprintf("Job %s %s, but the results of %d of %d shards are missing", p.job.Name, what, len(p.missing), p.of)}
	for _, shard := range slices.Sorted(maps.Keys(p.missing)) {
		lines = append(lines, fmt.Sprintf("shard %d/%d: %s", shard, p.of, cmp.Or(p.missing[shard], "no Pod has finished")))
	}
	return errors.New(strings.Join(lines, "\n"))
}
