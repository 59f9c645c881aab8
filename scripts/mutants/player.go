package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/fixtures/mutants/schemata"
)

const (
	// stalled is when a process that says nothing hangs.
	stalled = 2 * time.Minute
	// attempts are how often a process is started again that has ended between two trials.
	attempts = 10
)

// player runs a suite's program on tasks.
type player struct {
	*invention
	program   string
	pkg       string
	arguments []string
}

// learn has a process do a task without mutants: each test must pass.
func (p player) learn(ctx context.Context, name string, task *schemata.Task, more ...string) ([]schemata.Event, error) {
	failed := p.process(ctx, name, task, more...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	events, err := readEvents(task.Events)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		if event.State != "passed" {
			return nil, fmt.Errorf("%s fails without any mutant, so its failures prove nothing: make it pass first: %s", event.Spec, event.Message)
		}
	}
	if failed != nil {
		return nil, fmt.Errorf("%s fails without any mutant: %w: see %s", p.pkg, failed, p.bench.dir)
	}
	return events, nil
}

// reachedBy are, of each mutant, the tests that reach it, the fastest first.
func reachedBy(events []schemata.Event) map[int][]string {
	by := map[int][]string{}
	slices.SortStableFunc(events, func(a, b schemata.Event) int { return cmp.Compare(a.Took, b.Took) })
	for _, event := range events {
		for _, number := range event.Reached {
			by[number] = append(by[number], event.Spec)
		}
	}
	return by
}

// play has processes try the mutants of a task. A process that dies has been killed by those that were active.
func (p player) play(ctx context.Context, name string, task *schemata.Task) error {
	deaths := 0 // between two trials, of which no mutant has the blame
	for attempt := 0; len(task.Mutants) > 0; attempt++ {
		name := fmt.Sprintf("%s-%d", name, attempt)
		task.Events = filepath.Join(p.bench.dir, name+".jsonl")
		failed := p.process(ctx, name, task)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		events, err := readEvents(task.Events)
		if err != nil {
			return err
		}
		open := p.noteAll(task, events)
		var exit *exec.ExitError
		switch {
		case open == nil && (failed == nil || errors.As(failed, &exit) && exit.ExitCode() == 1):
			return nil // each test has ended
		case open == nil:
			if deaths++; deaths == attempts {
				return fmt.Errorf("%s ended by itself: %w: see %s", p.pkg, failed, p.bench.dir)
			}
		case len(open.Mutants) == 1:
			open.State, open.Message = "failed", fmt.Sprintf("its process died: %v", failed)
			p.note(open.Mutants[0], *open)
		}
		task.Mutants = slices.DeleteFunc(task.Mutants, func(m *schemata.Mutant) bool { return p.fates[m.Number].killed() || len(m.Specs) == 0 })
	}
	return nil
}

// noteAll takes what a process has told, and leaves in the task what is still to be done. It returns the trial in which
// the process ended, if any.
func (in *invention) noteAll(task *schemata.Task, events []schemata.Event) (open *schemata.Event) {
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
	for _, m := range task.Mutants {
		m.Lonely = m.Lonely || open != nil && slices.Contains(open.Mutants, m.Number)
		m.Specs = slices.DeleteFunc(slices.Clone(m.Specs), func(spec string) bool { return over[m.Number][spec] })
	}
	return open
}

// note takes what a test said of a mutant.
func (in *invention) note(number int, event schemata.Event) {
	f := in.fates[number]
	in.mu.Lock()
	defer in.mu.Unlock()
	f.took += event.Took / time.Duration(len(event.Mutants))
	switch event.State {
	case "failed":
		in.kill(f, event.Spec, event.Message)
	case "unsound":
		in.unsound = append(in.unsound, fmt.Sprintf("%s fails on the operator as it is, too, after mutant %s", event.Spec, f.mutant))
	}
}

// process runs the program on a task, and ends it when it says nothing any more.
func (p player) process(ctx context.Context, name string, task *schemata.Task, more ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	file := filepath.Join(p.bench.dir, name+".task.json")
	if err := errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(task.Events, nil, 0o644)); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(p.bench.dir, name+".txt"))
	if err != nil {
		return err
	}
	defer out.Close()
	run := command(ctx, p.program, slices.Concat(p.arguments, more)...)
	run.Dir = filepath.Join(p.shop.module(), p.pkg)
	run.Env = append(os.Environ(), schemata.TaskEnv+"="+file)
	run.Stdout, run.Stderr = out, out
	if err := run.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	events := task.Events // of this process: the next one writes others
	go func() {
		if isStalled(events, ended) {
			cancel(errors.New("it hung"))
			_ = syscall.Kill(run.Process.Pid, syscall.SIGKILL) // its control plane's watchdog sees to the rest
		}
	}()
	err = run.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// isStalled waits until nothing is written to a file any more, or returns false when the writer has ended.
func isStalled(file string, ended <-chan struct{}) bool {
	last, size := time.Now(), int64(-1)
	for time.Since(last) < stalled {
		select {
		case <-ended:
			return false
		case <-time.After(time.Second):
		}
		if now, err := os.Stat(file); err == nil && now.Size() != size {
			last, size = time.Now(), now.Size()
		}
	}
	return true
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
