package incluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// followed is the outcome of a Pod: its result, or the reason why there is no result. Both are empty if the follower
// was canceled.
type followed struct {
	shard    int
	result   []byte
	why      string
	exitCode int32
}

// follow forwards the log lines of a Pod until it finds the result or the Pod fails. If the connection breaks, it
// reads the log again and skips the lines that it has already forwarded.
func (p *play) follow(ctx context.Context, name string, shard int) {
	printed, last := 0, ""
	f := followed{shard: shard}
	defer func() { p.followed <- f }()
	for ctx.Err() == nil {
		ended := p.ended(ctx, name) // check this first, so that the log is complete if the Pod has terminated
		seen := 0
		result, err := p.read(ctx, name, func(line string) {
			if seen++; seen > printed {
				printed, last = seen, line
				p.lines.print("%s: %s", p.of(shard), line)
			}
		})
		switch {
		case result != nil:
			f.result = result
			return
		case ctx.Err() != nil:
			return
		case errors.Is(err, errDamaged) && ended != nil:
			f.why = fmt.Sprintf("%s of Pod %s", err, name)
			return
		case ended != nil && err == nil:
			f.exitCode = ended.ExitCode
			f.why = fmt.Sprintf("Pod %s exited with code %d (%s)", name, ended.ExitCode, ended.Reason)
			if last != "" {
				f.why += ", last log line: " + last
			}
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.cluster.pollInterval):
		}
	}
}

// ended returns how the Pod's container terminated, or nil if it is still running or the Pod cannot be read.
func (p *play) ended(ctx context.Context, name string) *corev1.ContainerStateTerminated {
	pod, err := p.cluster.clientset.CoreV1().Pods(p.cluster.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return terminated(pod)
}

func (p *play) read(ctx context.Context, pod string, forward func(line string)) ([]byte, error) {
	log, err := p.cluster.logs(ctx, pod)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return readLog(log, forward)
}

// shardOf returns the number of the shard that a Pod explores. Numbers start at 1.
func (p *play) shardOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 || index >= len(p.job.Shards) {
		return 0
	}
	return p.job.Shards[index]
}

// waitsFor returns why a Pod has not started, and whether that is final. It returns "" if there is nothing to report.
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

// shards formats shard numbers, as in "shards 1, 3 of 4".
func (j Job) shards(some iter.Seq[int]) string {
	var numbers []string
	for shard := range some {
		numbers = append(numbers, strconv.Itoa(shard))
	}
	noun := "shards"
	if len(numbers) == 1 {
		noun = "shard"
	}
	return fmt.Sprintf("%s %s of %d", noun, strings.Join(numbers, ", "), j.Of)
}

// lines serializes the log lines of several Pods.
type lines struct {
	mu   sync.Mutex
	out  io.Writer
	once sync.Map // the lines that printOnce has written
}

func (l *lines) print(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, format+"\n", args...)
}

// printOnce writes a line unless it has already written the same line.
func (l *lines) printOnce(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if _, printed := l.once.LoadOrStore(line, true); !printed {
		l.print("%s", line)
	}
}
