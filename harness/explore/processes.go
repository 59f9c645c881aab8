package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
)

// processes supervises the operator and its companions during a run.
type processes struct {
	env       *environment
	recording *recording
	abort     context.CancelCauseFunc
}

type companion struct {
	config   Companion
	injector *fault.Injector // injects no faults, only records
	log      log
}

func (p *processes) superviseOperator(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, instance := p.recording.injector.NewInstance(p.env.config.Identity)
		recordEnd := p.recording.timeline.instance()
		instanceCtx, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() {
			ended <- p.env.config.Operator(instanceCtx, p.env.home(p.recording.namespace), config, &p.recording.log)
		})
		select {
		case <-instance.Crashed():
			recordEnd(results.Crashed)
		case <-ctx.Done():
			recordEnd(results.Stopped)
		case err := <-ended:
			recordEnd(results.Exited)
			p.handleExit(err)
		}
		instance.End()
		kill()
	}
}

// handleExit handles an unexpected exit of the operator. It aborts the run if no fault has been triggered yet, or if
// the operator has been started maxStarts times. Otherwise, superviseOperator restarts the operator.
func (p *processes) handleExit(err error) {
	injector := p.recording.injector
	err = cmp.Or(err, errors.New("it exited without an error"))
	if injector.TriggeredAt().IsZero() || injector.Starts() >= maxStarts {
		p.abort(stepError{"operator runs", fmt.Errorf("the operator exited unexpectedly (starts: %d): %w", injector.Starts(), err)})
	}
}

// startCompanions starts the companions, which stop when ctx is canceled. The returned function waits for them.
func (p *processes) startCompanions(ctx context.Context, scope fault.Scope) (wait func()) {
	var running sync.WaitGroup
	for _, config := range p.env.config.Companions {
		s := &companion{config: config, injector: fault.New(scope)}
		p.recording.companions = append(p.recording.companions, s)
		running.Go(func() { p.superviseCompanion(ctx, s) })
	}
	return running.Wait
}

// superviseCompanion restarts a companion that exits. It aborts the run if the companion exits after its last start.
func (p *processes) superviseCompanion(ctx context.Context, s *companion) {
	for starts := 1; ; starts++ {
		config, instance := s.injector.NewInstance(s.config.Identity)
		err := s.config.Operator(ctx, p.env.home(p.recording.namespace), config, &s.log)
		instance.End()
		err = cmp.Or(err, errors.New("it exited without an error"))
		if ctx.Err() == nil && starts == maxStarts {
			p.abort(stepError{s.config.Name + " runs", fmt.Errorf("%s, a companion of the operator, exited unexpectedly (starts: %d): %w", s.config.Name, starts, err)})
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
func (p *processes) waitCompanions(ctx context.Context) error {
	for _, s := range p.recording.companions {
		if s.config.ServesWebhooks {
			continue
		}
		err := s.injector.WaitIdle(ctx, p.env.history, idleWindow, record.Request.IsWrite)
		if err != nil && !s.injector.Synced() {
			return fmt.Errorf("%s, a companion of the operator, has not listed or watched anything within %s", s.config.Name, p.recording.timing.timely.Round(time.Second/10))
		}
		if err != nil {
			return fmt.Errorf("%s, a companion of the operator: %s", s.config.Name, err.Error()) // hide record.ErrNotIdle, which is about the operator
		}
	}
	return nil
}
