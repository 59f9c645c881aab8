package incluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// removeTimeout limits how long removing the Job may take, including after an interruption.
	removeTimeout = 30 * time.Second
	// lastLogs is how long to wait for the remaining logs after the Job has ended.
	lastLogs = time.Minute
	// usageError is the exit code for invalid arguments. Retrying in another Pod would fail the same way.
	usageError = 2
)

// Play runs a Job and passes each result to fetched as soon as it is available. It writes the Pods' log lines to
// progress, each labeled with its shard. It returns the error from fetched, or an error that lists the missing shards
// and the reasons. Results that were already passed to fetched remain valid. Play removes the Job and its Pods before
// it returns, unless job.Keep is set.
func (c *Cluster) Play(ctx context.Context, job Job, progress io.Writer, fetched func(shard int, result []byte) error) (err error) {
	created, err := c.clientset.BatchV1().Jobs(c.namespace).Create(ctx, job.object(), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("cannot create the Job: %w", err)
	}
	if !job.Keep {
		defer func() { err = errors.Join(err, c.remove(context.WithoutCancel(ctx), created.Name)) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &play{
		cluster: c, job: job, created: created, lines: &lines{out: progress}, last: map[int]string{},
		followers: map[types.UID]context.CancelFunc{}, followed: make(chan followed), missing: map[int]bool{},
	}
	for _, shard := range job.Shards {
		p.missing[shard] = true
	}
	p.lines.print("Job %s/%s runs %s", c.namespace, created.Name, job.shards(slices.Values(job.Shards)))
	defer p.wait(cancel)
	return p.run(ctx, fetched)
}

// remove deletes the Job. It deletes the Pods without a grace period, because otherwise Pods on a failed node would
// never be removed.
func (c *Cluster) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err := c.clientset.BatchV1().Jobs(c.namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete Job %s/%s: %w: delete it by hand", c.namespace, name, err)
	}
	// If this is forbidden, the garbage collector deletes the Pods.
	_ = c.clientset.CoreV1().Pods(c.namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	return nil
}

type play struct {
	cluster *Cluster
	job     Job
	created *batchv1.Job
	lines   *lines

	followers map[types.UID]context.CancelFunc // by Pod
	running   int                              // the number of followers that have not returned
	followed  chan followed
	missing   map[int]bool
	last      map[int]string // why each shard's last Pod returned no result
}

// run follows the Pods until all results are available or the Job has ended without them.
func (p *play) run(ctx context.Context, fetched func(shard int, result []byte) error) error {
	var late <-chan time.Time
	for {
		now, err := p.cluster.read(ctx, p.created)
		if err == nil {
			if err := p.followPods(ctx, now); err != nil {
				return err
			}
		} else if ctx.Err() == nil {
			p.lines.printOnce("Job %s cannot be read: %s", p.created.Name, err)
		}
		if now.isDeleted || now.end != "" && p.running == 0 {
			return p.missingError(now.end)
		}
		if now.end != "" && late == nil {
			late = time.After(lastLogs)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return p.missingError(now.end + ", but the log of a Pod cannot be read")
		case <-time.After(p.cluster.pollInterval):
		case f := <-p.followed:
			p.running--
			if err := p.handle(f, fetched); err != nil || len(p.missing) == 0 {
				return err
			}
		}
	}
}

func (p *play) wait(cancel context.CancelFunc) {
	cancel()
	for range p.running {
		<-p.followed
	}
}

func (p *play) followPods(ctx context.Context, now state) error {
	for _, warning := range now.warnings {
		p.lines.printOnce("Job %s: %s", p.created.Name, warning)
	}
	for uid, cancel := range p.followers {
		if !slices.ContainsFunc(now.pods, func(pod corev1.Pod) bool { return pod.UID == uid }) {
			cancel()
		}
	}
	for _, pod := range now.pods {
		shard := p.shardOf(&pod)
		cancel, isFollowed := p.followers[pod.UID]
		switch {
		case pod.DeletionTimestamp != nil:
			if isFollowed {
				cancel()
			}
			if p.missing[shard] {
				p.lines.printOnce("%s: Pod %s on node %s is being deleted; another Pod will run the shard", p.of(shard), pod.Name, pod.Spec.NodeName)
			}
		case pod.Status.Phase != corev1.PodPending && !isFollowed:
			following, cancel := context.WithCancel(ctx)
			p.followers[pod.UID] = cancel
			p.running++
			go p.follow(following, pod.Name, shard)
		case pod.Status.Phase == corev1.PodPending:
			why, isFinal := waitsFor(&pod)
			if isFinal {
				return fmt.Errorf("%s: %s: check that the nodes can pull the image", p.of(shard), why)
			}
			if why != "" {
				p.lines.printOnce("%s: waiting: %s", p.of(shard), why)
			}
		}
	}
	return nil
}

func (p *play) handle(f followed, fetched func(shard int, result []byte) error) error {
	switch {
	case !p.missing[f.shard]: // another Pod has already returned the result
	case f.result != nil:
		if err := fetched(f.shard, f.result); err != nil {
			return err
		}
		delete(p.missing, f.shard)
		p.lines.print("%s: done; %d left", p.of(f.shard), len(p.missing))
	case f.exitCode == usageError:
		return fmt.Errorf("%s: %s", p.of(f.shard), f.why)
	case f.why != "":
		p.last[f.shard] = f.why
		p.lines.print("%s: %s", p.of(f.shard), f.why)
	}
	return nil
}

func (p *play) missingError(end string) error {
	missing := slices.Sorted(maps.Keys(p.missing))
	err := fmt.Errorf("%s: results of %s are missing: rerun the command; it reuses the completed shards", end, p.job.shards(slices.Values(missing)))
	for _, shard := range missing {
		if why := p.last[shard]; why != "" {
			err = fmt.Errorf("%w\n%s: %s", err, p.of(shard), why)
		}
	}
	return err
}

func (p *play) of(shard int) string { return fmt.Sprintf("shard %d/%d", shard, p.job.Of) }
