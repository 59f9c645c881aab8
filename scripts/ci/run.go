package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long a job that is to end may take to tidy up: a cluster's removal takes its time.
const patience = 5 * time.Minute

// What can become of a job, in GitHub's words.
const (
	succeeded = "success"
	failed    = "failure"
	skipped   = "skipped"
	cancelled = "cancelled"
)

// runner plays a workflow, and goes on after a failure where GitHub would.
type runner struct {
	workflow *workflow
	out      io.Writer
	results  map[string]string // of the jobs that have ended, by their names
	lines    []string          // of the table that closes the run
}

// run plays instances of jobs, and names those that are left out in the end. The error says that the run has
// failed, or that the text of the workflow cannot be played here.
func (r *runner) run(ctx context.Context, instances, leftOut []instance) error {
	if aside, err := setAside("before"); err != nil {
		return err
	} else if aside != "" {
		fmt.Fprintln(r.out, "what was left by earlier runs is now in", aside)
	}
	for _, i := range leftOut {
		r.lines = append(r.lines, fmt.Sprintf("%-20s left out", i))
	}
	alone := len(r.workflow.Jobs) > 1 && !slices.ContainsFunc(instances, func(i instance) bool { return i.id != instances[0].id })
	for _, i := range instances {
		job := r.workflow.Jobs[i.id]
		var result string
		began := time.Now()
		runs, err := wants(job.If, alone || r.all(job.Needs, succeeded))
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", i.id, err)
		case ctx.Err() != nil:
			result = cancelled
		case !runs:
			result = skipped
		default:
			if result, err = r.play(ctx, i, job); err != nil {
				return fmt.Errorf("%s: %w", i.id, err)
			}
		}
		r.results[i.id] = worse(r.results[i.id], result)
		r.end(i, result, time.Since(began))
		if aside, err := setAside(i.folder()); err != nil {
			return err
		} else if aside != "" {
			r.tell(i, "has left its results in "+aside)
		}
	}
	fmt.Fprintf(r.out, "\n%s\n", strings.Join(r.lines, "\n"))
	if len(leftOut) > 0 {
		fmt.Fprintln(r.out, "the gate was not judged, because not all jobs were run")
	}
	for _, result := range r.results {
		if result != succeeded {
			return errors.New("the run has failed")
		}
	}
	return nil
}

// play runs the steps of a job.
func (r *runner) play(ctx context.Context, i instance, job *job) (string, error) {
	r.tell(i, "begins")
	limited, cancel := context.WithTimeout(ctx, time.Duration(job.TimeoutMinutes)*time.Minute)
	defer cancel()
	v := valuesOf(i.part, job.Needs, r.results)
	well := true
	for _, s := range job.Steps {
		runs, err := wants(s.If, well)
		if err != nil {
			return "", err
		}
		switch {
		case !runs || limited.Err() != nil:
		case s.Uses != "":
			action, _, _ := strings.Cut(s.Uses, "@")
			r.tell(i, "leaves out "+action)
		default:
			err := r.step(limited, s, v, job)
			if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && limited.Err() == nil {
				return "", err
			}
			if err != nil {
				well = false
				r.tell(i, fmt.Sprintf("%s: %v", cmp.Or(s.Name, strings.TrimSpace(s.Run)), err))
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return cancelled, nil
	case limited.Err() != nil:
		r.tell(i, fmt.Sprintf("took longer than its %d minutes", job.TimeoutMinutes))
		return failed, nil
	case !well:
		return failed, nil
	}
	return succeeded, nil
}

// step runs a step's commands as GitHub does on Linux.
func (r *runner) step(ctx context.Context, s step, v values, job *job) error {
	environment, err := v.environment(append(withoutAssets(os.Environ()), "CI=true"), r.workflow.Env, job.Env, s.Env)
	if err != nil {
		return err
	}
	script, err := v.fill(s.Run)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	command.Env, command.Stdout, command.Stderr = environment, r.out, r.out
	// What a job runs is told once to end, with all that it has started, and may then tidy up.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = patience
	return command.Run()
}

// withoutAssets leaves out the variables that name binaries of a version that nobody knows: they would be taken
// whatever version the workflow asks for.
func withoutAssets(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		return strings.HasPrefix(variable, "KUBEBUILDER_ASSETS=") || strings.HasPrefix(variable, "KWOK_ASSETS=")
	})
}

func (r *runner) all(needs texts, result string) bool {
	return !slices.ContainsFunc(needs, func(id string) bool { return r.results[id] != result })
}

// worse is what a matrix's parts make of their job.
func worse(one, other string) string {
	for _, result := range []string{failed, cancelled, skipped} {
		if one == result || other == result {
			return result
		}
	}
	return other
}

func (r *runner) tell(i instance, what string) { fmt.Fprintf(r.out, "%-20s %s\n", i, what) }

func (r *runner) end(i instance, result string, took time.Duration) {
	line := fmt.Sprintf("%-20s %-10s %8.1fs", i, result, took.Seconds())
	r.lines = append(r.lines, line)
	fmt.Fprintln(r.out, line)
}
