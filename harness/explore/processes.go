package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
)

type companion struct {
	config   Companion
	injector *fault.Injector // injects no faults, only records
	log      log
}

func (r *run) superviseOperator(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, instance := r.recording.injector.NewInstance(r.env.config.Identity)
		recordEnd := r.recording.timeline.instance()
		instanceCtx, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() {
			ended <- r.env.config.Operator(instanceCtx, r.env.home(r.recording.namespace), config, &r.recording.log)
		})
		select {
		case <-instance.Crashed():
			recordEnd(results.Crashed)
		case <-ctx.Done():
		case err := <-ended:
			recordEnd(results.Exited)
			r.handleExit(err)
		}
		instance.End()
		kill()
	}
}

// handleExit aborts the run if the operator exits unexpectedly. The operator is restarted instead if a fault has been
// triggered, or if it exited with code 0 after a list or a watch, for example to load a new certificate. After maxStarts
// starts, every exit aborts the run.
func (r *run) handleExit(err error) {
	injector := r.recording.injector
	isOnPurpose := injector.Synced() && errors.Is(err, pod.ErrExited)
	err = cmp.Or(err, errors.New("no error was returned"))
	if injector.TriggeredAt().IsZero() && !isOnPurpose || injector.Starts() >= maxStarts {
		r.abort(stepError{"operator runs", fmt.Errorf("the operator exited unexpectedly (starts: %d): %w", injector.Starts(), err)})
	}
}

// startProcesses starts the operator and its companions, which stop when ctx is canceled.
func (r *run) startProcesses(ctx context.Context, scope fault.Scope) {
	var running sync.WaitGroup
	for _, config := range r.env.config.Companions {
		s := &companion{config: config, injector: fault.New(scope)}
		r.recording.companions = append(r.recording.companions, s)
		running.Go(func() { r.superviseCompanion(ctx, s) })
	}
	running.Go(func() { r.superviseOperator(ctx) })
	r.player.operators.Go(func() {
		running.Wait()
		close(r.recording.ended)
	})
	if life := r.attempt.conditions.watchLife; life > 0 {
		r.player.operators.Go(func() {
			_ = utilwait.PollUntilContextCancel(ctx, life, false, func(context.Context) (bool, error) {
				r.recording.injector.EndWatches()
				return false, nil
			})
		})
	}
}

// superviseCompanion restarts the companion when it exits. It aborts the run after maxStarts unexpected exits.
func (r *run) superviseCompanion(ctx context.Context, s *companion) {
	for starts := 1; ; starts++ {
		config, instance := s.injector.NewInstance(s.config.Identity)
		err := s.config.Operator(ctx, r.env.home(r.recording.namespace), config, &s.log)
		instance.End()
		err = cmp.Or(err, errors.New("no error was returned"))
		if ctx.Err() == nil && starts == maxStarts {
			r.abort(stepError{s.config.Name + " runs", fmt.Errorf("%s, a companion of the operator, exited unexpectedly (starts: %d): %w", s.config.Name, starts, err)})
			return
		}
		select {
		case <-time.After(time.Duration(starts) * restartDelay):
		case <-ctx.Done():
			return
		}
	}
}

// waitCompanions waits until every companion without webhooks has synced and is idle.
func (r *run) waitCompanions(ctx context.Context) error {
	for _, s := range r.recording.companions {
		if s.config.ServesWebhooks {
			continue
		}
		err := s.injector.WaitIdle(ctx, r.env.history, idleWindow, record.Request.IsWrite)
		if err != nil && !s.injector.Synced() {
			return fmt.Errorf("%s, a companion of the operator, has not listed or watched anything within %s", s.config.Name, r.limit().Round(time.Second/10))
		}
		if err != nil {
			return fmt.Errorf("%s, a companion of the operator: %s", s.config.Name, err.Error()) // hide record.ErrNotIdle, which is about the operator
		}
	}
	return nil
}
