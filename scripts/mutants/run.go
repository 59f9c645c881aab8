package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

type result struct {
	*mutant
	killed   bool   // a test failed
	accepted string // why no test can kill the mutant
	untested error  // why the tests could not run
	took     time.Duration
}

// runner runs tests against mutants, which replace the original files through Go's -overlay flag.
type runner struct {
	dir string // of the overlays
	out io.Writer
}

const atOnce = 3

// testSurvivors runs a test against all surviving mutants. The test returns its output if it fails, and an error if it
// could not run.
func (r runner) testSurvivors(name string, results []*result, test func(*result) (string, error)) {
	alive := slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return r.killed || r.accepted != "" || r.untested != nil })
	if len(alive) == 0 {
		return
	}
	begin := time.Now()
	group := errgroup.Group{}
	group.SetLimit(atOnce)
	for _, result := range alive {
		group.Go(func() error {
			begin := time.Now()
			out, err := test(result)
			result.took += time.Since(begin)
			result.untested, result.killed = err, err == nil && out != ""
			return nil
		})
	}
	_ = group.Wait() // errors are stored in the results
	rest := slices.DeleteFunc(slices.Clone(alive), func(r *result) bool { return r.killed })
	fmt.Fprintf(r.out, "tests      %s: %d of %d killed in %s\n", name, len(alive)-len(rest), len(alive), time.Since(begin).Round(time.Second))
}

// run runs a command against a mutant, or the original code if m is nil. If it fails, run returns its output.
func (r runner) run(ctx context.Context, m *mutant, command ...string) (string, error) {
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Env = append(os.Environ(), "GINKGO_NO_COLOR=TRUE")
	if m != nil {
		overlay, err := r.overlay(m)
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(filepath.Dir(overlay))
		run.Env = append(run.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that it can be killed together with its child processes
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGINT) }
	run.WaitDelay = time.Minute
	out, err := run.CombinedOutput()
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
		return "", fmt.Errorf("the tests do not compile:\n%s", out)
	case errors.As(err, &exit):
		return string(out), nil
	}
	return "", err
}

// suite is like run, but returns an error if the command fails for any reason other than a failed test.
func (r runner) suite(ctx context.Context, m *mutant, command ...string) (string, error) {
	out, err := r.run(ctx, m, command...)
	if err == nil && out != "" && !namesFailedTest(out) {
		err = fmt.Errorf("the suite failed, but not because of the mutant:\n%s", out)
	}
	return out, err
}

// overlay writes the files of a mutant and the JSON file for Go's -overlay flag. It returns the path of the JSON file.
func (r runner) overlay(m *mutant) (list string, err error) {
	dir, err := os.MkdirTemp(r.dir, "overlay")
	replace := map[string]string{}
	for path, text := range m.files {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		err = errors.Join(err, os.WriteFile(replace[path], text, 0o644))
	}
	text, failed := json.Marshal(map[string]any{"Replace": replace})
	list = filepath.Join(dir, "overlay.json")
	return list, errors.Join(err, failed, os.WriteFile(list, text, 0o644))
}

// unit returns the command for the unit tests of a package. The timeout stops mutants that loop forever.
func unit(path string) []string {
	return []string{"go", "test", "-short", "-failfast", "-vet=off", "-count=1", "-timeout=1m", path}
}

var notTested = regexp.MustCompile(`(?m)^panic: test timed out|was not triggered: |^\s*\S+ \[(Synchronized)?BeforeSuite\]`)

// namesFailedTest reports whether the output of a suite names a failed test. For a Ginkgo suite, it looks for a failed
// spec, because the suite can also fail for other reasons.
func namesFailedTest(out string) bool {
	found := strings.Contains(out, "--- FAIL: ")
	if strings.Contains(out, "Running Suite: ") {
		found = strings.Contains(out, "[FAIL] ") || strings.Contains(out, "[PANICKED!] ")
	}
	return found && !notTested.MatchString(out)
}
