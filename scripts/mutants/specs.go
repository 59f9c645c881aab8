package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
	"github.com/operator-assay/assay/test/harness/report/results"
)

const (
	// specTests is the package whose specs need a control plane.
	specTests = "test/integration"
	// specTimeout is what a spec waits for a state that a mutant may keep from coming.
	specTimeout = 4 * time.Second
	// triedAlone is by how many specs a mutant is tried before it is tried together with others.
	triedAlone = 10
	// stalled is when a process that says nothing hangs.
	stalled = 2 * time.Minute
	// attempts are how often a process is started again that has ended between two trials.
	attempts = 100
)

// rounds are up to what time specs run in one: the fast ones first.
var rounds = []time.Duration{time.Second, 3 * time.Second, time.Hour}

func (in *invention) buildSpecs(ctx context.Context) (string, error) {
	return in.bench.build(ctx, specTests)
}

// trySpecs learns which specs reach which mutants, and runs them on those that are alive.
func (in *invention) trySpecs(ctx context.Context, program string) error {
	learnt, err := in.learn(ctx, program)
	if err != nil {
		return err
	}
	took := map[string]time.Duration{}
	for _, event := range learnt {
		took[event.Spec] = event.Took
		reached := map[int]bool{}
		for _, number := range event.Reached {
			reached[number] = true
		}
		for number, f := range in.fates {
			if reached[number] || f.mutant.Always {
				f.specs = append(f.specs, event.Spec)
			}
		}
	}
	tried := map[int]*schemata.Mutant{}
	for _, f := range in.alive() {
		tried[f.mutant.Number] = &schemata.Mutant{Number: f.mutant.Number, Functions: f.mutant.Functions}
	}
	for i, limit := range rounds {
		shares := make([][]*schemata.Mutant, in.procs)
		for n, f := range in.alive() {
			m := tried[f.mutant.Number]
			m.Specs = slices.DeleteFunc(slices.Clone(f.specs), func(spec string) bool {
				return took[spec] > limit || i > 0 && took[spec] <= rounds[i-1]
			})
			if len(m.Specs) > 0 {
				shares[n%in.procs] = append(shares[n%in.procs], m)
			}
		}
		var workers sync.WaitGroup
		failed := make([]error, in.procs)
		for p, share := range shares {
			workers.Go(func() { failed[p] = in.play(ctx, program, fmt.Sprintf("%d-%d", i, p), share) })
		}
		workers.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
	}
	return nil
}

// learn runs each spec on the operator as it is. What the same program has learnt before is kept.
func (in *invention) learn(ctx context.Context, program string) ([]schemata.Event, error) {
	begin := time.Now()
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	known := in.shop.dir + fmt.Sprintf(".learnt/%x.jsonl", sha256.Sum256(text))
	events, err := readEvents(known)
	if errors.Is(err, fs.ErrNotExist) {
		if events, err = in.learnAnew(ctx, program, known); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	in.told.baseline("integration", fmt.Sprintf("%d specs", len(events)), time.Since(begin))
	return events, nil
}

// learnAnew has processes run a part of the specs each, and keeps what they tell in a file.
func (in *invention) learnAnew(ctx context.Context, program, file string) ([]schemata.Event, error) {
	failed, told := make([]error, in.procs), make([][]byte, in.procs)
	var workers sync.WaitGroup
	for p := range in.procs {
		workers.Go(func() {
			name := fmt.Sprintf("learn-%d", p)
			task := &schemata.Task{Part: p, Parts: in.procs, Timeout: 3 * specTimeout, Events: filepath.Join(in.bench.dir, name+".jsonl")}
			if failed[p] = in.process(ctx, program, name, task); failed[p] == nil {
				told[p], failed[p] = os.ReadFile(task.Events)
			}
		})
	}
	workers.Wait()
	var events []schemata.Event
	for p := range in.procs {
		part, _ := readEvents(filepath.Join(in.bench.dir, fmt.Sprintf("learn-%d.jsonl", p)))
		events = append(events, part...)
	}
	for _, event := range events {
		if event.State != "passed" {
			return nil, fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", event.Spec, event.Message)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, fmt.Errorf("the suite fails without any mutant: see %s: %w", in.bench.dir, err)
	}
	return events, results.WriteFile(file, bytes.Join(told, nil))
}

// play has processes try a share of the mutants. A process that dies has been killed by those that were active.
func (in *invention) play(ctx context.Context, program, name string, share []*schemata.Mutant) error {
	for attempt := 0; len(share) > 0; attempt++ {
		task := &schemata.Task{Mutants: share, Alone: triedAlone, Timeout: specTimeout,
			Events: filepath.Join(in.bench.dir, fmt.Sprintf("%s-%d.jsonl", name, attempt))}
		failed := in.process(ctx, program, fmt.Sprintf("%s-%d", name, attempt), task)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		events, err := readEvents(task.Events)
		if err != nil {
			return fmt.Errorf("the suite says nothing: %w: %w", failed, err)
		}
		var open *schemata.Event
		over := map[int]map[string]bool{} // what each mutant has been through
		for i, event := range events {
			if open = nil; event.State == "begin" {
				open = &events[i]
				continue
			}
			for _, number := range event.Mutants {
				in.note(number, event)
				if over[number] == nil {
					over[number] = map[string]bool{}
				}
				over[number][event.Spec] = true
			}
		}
		var exit *exec.ExitError
		if open == nil && (failed == nil || errors.As(failed, &exit) && exit.ExitCode() == 1) {
			return nil // each spec has ended
		} else if open == nil && attempt > attempts {
			return fmt.Errorf("the suite ended by itself: %w: see %s", failed, in.bench.dir)
		}
		for _, m := range share {
			if open != nil && slices.Contains(open.Mutants, m.Number) {
				m.Lonely = true
			}
			m.Specs = slices.DeleteFunc(m.Specs, func(spec string) bool { return over[m.Number][spec] })
		}
		if open != nil && len(open.Mutants) == 1 {
			open.State, open.Message = "failed", "the operator's process died: "+failed.Error()
			in.note(open.Mutants[0], *open)
		}
		share = slices.DeleteFunc(share, func(m *schemata.Mutant) bool { return in.fates[m.Number].killed() || len(m.Specs) == 0 })
	}
	return nil
}

// note takes what a spec said of a mutant.
func (in *invention) note(number int, event schemata.Event) {
	f := in.fates[number]
	f.took += event.Took / time.Duration(len(event.Mutants))
	switch event.State {
	case "failed":
		f.killedBy, f.message = event.Spec, event.Message
	case "unsound":
		fmt.Fprintf(in.told.out, "%s fails on the operator as it is, too, after mutant %s\n", event.Spec, f.mutant)
	}
}

// process runs the suite on a task, and ends it when it says nothing any more.
func (in *invention) process(ctx context.Context, program, name string, task *schemata.Task) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	file := filepath.Join(in.bench.dir, name+".task.json")
	if err := errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(task.Events, nil, 0o644)); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(in.bench.dir, name+".txt"))
	if err != nil {
		return err
	}
	defer out.Close()
	run := command(ctx, program, "-ginkgo.no-color", "-ginkgo.succinct", "-ginkgo.silence-skips", "-ginkgo.flake-attempts=1000000", "-ginkgo.timeout=6h")
	run.Dir = filepath.Join(in.shop.module(), specTests)
	run.Env = append(os.Environ(), schemata.TaskEnv+"="+file)
	run.Stdout, run.Stderr = out, out
	if len(task.Mutants) == 0 {
		run.Args = append(run.Args, "-ginkgo.flake-attempts=1")
	}
	if err := run.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for last, size := time.Now(), int64(-1); ; {
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
			if now, err := os.Stat(task.Events); err == nil && now.Size() != size {
				last, size = time.Now(), now.Size()
			}
			if time.Since(last) > stalled {
				cancel(errors.New("it hung"))
				_ = syscall.Kill(run.Process.Pid, syscall.SIGKILL) // its control plane's watchdog sees to the rest
				return
			}
		}
	}()
	err = run.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func readEvents(path string) ([]schemata.Event, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []schemata.Event
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events, nil // an incomplete last line was being written
		}
		var event schemata.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, err
		}
		events = append(events, event)
	}
}
