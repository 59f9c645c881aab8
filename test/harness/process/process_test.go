package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started starts a shell script, and returns the process id that it prints first.
func started(t *testing.T, command *exec.Cmd) (pid int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	command.Args = append(command.Args, file)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(file) // until it is there
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
	}
	t.Fatal("the script did not start")
	return 0
}

func TestTheEndOfTheContextEndsAllThatWasStarted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	command := Command(ctx, "sh", "-c", `sleep 60 & echo $! >"$0"; wait`)
	child := started(t, command)
	cancel()
	if err := command.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	for deadline := time.Now().Add(10 * time.Second); !errors.Is(syscall.Kill(child, 0), syscall.ESRCH); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its child is left")
		}
	}
	if err := KillGroup(command); err != nil {
		t.Errorf("of what is gone: %v", err)
	}
}

func TestASignalComesFirst(t *testing.T) {
	for script, want := range map[string]string{
		`trap 'exit 7' TERM; echo $$ >"$0"; while :; do sleep 0.01; done`: "exit status 7",
		`trap '' TERM; echo $$ >"$0"; while :; do sleep 0.01; done`:       "signal: killed",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		command := Command(ctx, "sh", "-c", script)
		SignalFirst(command, syscall.SIGTERM, time.Second)
		started(t, command)
		cancel()
		if err := command.Wait(); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", script, err, want)
		}
	}
}

func TestOutputSaysWhyACommandFailed(t *testing.T) {
	for script, want := range map[string]string{
		`echo " fine "`:                             "",
		`echo first >&2; echo last >&2; exit 3`:     "exit status 3: last",
		`echo Error: why >&2; echo help; exit 1`:    "exit status 1: Error: why",
		`echo said on standard output only; exit 1`: "exit status 1: said on standard output only",
		`exit 1`: "exit status 1",
	} {
		out, err := Output(Command(t.Context(), "sh", "-c", script))
		switch {
		case want == "" && (err != nil || out != "fine"):
			t.Errorf("%s: got %q, %v", script, out, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v, want %s", script, err, want)
		}
	}
}

func TestTheLastErrorOfALogIsFound(t *testing.T) {
	for log, want := range map[string]string{
		"":                                    "",
		"one\ntwo\n\n":                        "two",
		"E1122 10:00:00 one\nI1122 two\n":     "E1122 10:00:00 one",
		"Error: one\npanic: two\nusage\n":     "panic: two",
		`{"level":"fatal","msg":"x"}` + "\nz": `{"level":"fatal","msg":"x"}`,
		"Elephant\nFine\n":                    "Fine",
	} {
		if got := LastError(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}
