package pod

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcessIsPID1(t *testing.T) {
	isolated(t)
	if out, err := exec.Command("unshare", "-Urpf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine, or the container that it is, allows no /proc of a Pod: %v: %s", err, out)
	}
	if got := shell(t, Container{}, `read id rest </proc/self/stat; echo $id $$`); got != "1 1\n" {
		t.Errorf("got %q", got)
	}
}

// newPipe creates a named pipe. Its reader gets EOF when no process has the pipe open for writing.
func newPipe(t *testing.T) string {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	noError(t, syscall.Mkfifo(pipe, 0o600))
	return pipe
}

// pipeLimit is how long a test waits for a pipe. Without a limit, the test would hang if no process opens the pipe.
const pipeLimit = time.Minute

func openPipe(t *testing.T, pipe string) *os.File {
	t.Helper()
	opened := make(chan *os.File, 1)
	go func() {
		written, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
		}
		opened <- written
	}()
	select {
	case written := <-opened:
		t.Cleanup(func() { _ = written.Close() })
		noError(t, written.SetReadDeadline(time.Now().Add(pipeLimit)))
		return written
	case <-time.After(pipeLimit):
		t.Fatalf("no process has opened %s within %s", pipe, pipeLimit)
		return nil
	}
}

// TestChildrenAreKilledWithProcess starts children that leave the process group, like daemons.
func TestChildrenAreKilledWithProcess(t *testing.T) {
	isolated(t)
	const daemon = "setsid sh -c 'echo child; exec sleep 600' &\n"
	shell(t, Container{}, daemon) // fails if a process still has the output open

	pipe := newPipe(t)
	_, stop := start(t, Container{Path: "/bin/sh", Folder: filepath.Dir(pipe), Arguments: []string{"-c", "echo started; exec >" + pipe + "\n" + daemon + "wait"}})
	written := openPipe(t, pipe)
	if _, err := io.ReadFull(written, make([]byte, len("child\n"))); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := io.ReadAll(written); err != nil {
		t.Errorf("the child is still running: %v", err)
	}
}

func TestChildrenDieWithoutNamespaces(t *testing.T) {
	needsProcess(t)
	pipe := newPipe(t)
	ended := make(chan error, 1)
	go func() {
		c := Container{Path: "/bin/sh", Arguments: []string{"-c", "exec 3>" + pipe + "; sleep 600 & exit 3"}}
		ended <- runOnHost(t.Context(), c, filepath.Dir(pipe), serveHello, io.Discard)
	}()
	written := openPipe(t, pipe)
	if _, err := io.ReadAll(written); err != nil {
		t.Errorf("the child is still running: %v", err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}
