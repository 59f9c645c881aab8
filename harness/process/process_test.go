package process_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/term"

	"github.com/operator-assay/assay/harness/process"
)

// timeout is long enough for an overloaded machine.
const timeout = 10 * time.Second

func needsProcess(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a process")
	}
}

// startScript starts a shell script and returns the first line of its output. ended waits until all of the script's
// processes have exited and closed its output.
func startScript(t *testing.T, script string) (p *process.Process, line string, ended func()) {
	t.Helper()
	needsProcess(t)
	g := NewWithT(t)
	output, write, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { output.Close() })
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Stdout = write
	p, err = process.Start(command)
	g.Expect(err).NotTo(HaveOccurred())
	write.Close()
	reader := bufio.NewReader(output)
	line, err = reader.ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	return p, strings.TrimSpace(line), func() {
		t.Helper()
		_ = output.SetReadDeadline(time.Now().Add(timeout))
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("a child process is still running: %v", err)
		}
	}
}

func TestStopWaitsForGracefulExit(t *testing.T) {
	g := NewWithT(t)
	p, _, _ := startScript(t, `trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
	g.Expect(p.State()).To(BeNil())
	g.Expect(p.Stop(time.Minute)).To(Succeed())
	g.Expect(p.State().ExitCode()).To(Equal(3))
	g.Expect(p.Stop(time.Minute)).To(Succeed(), "the process has already exited")
}

func TestStopKillsTheGroupAfterItsGracePeriod(t *testing.T) {
	g := NewWithT(t)
	p, _, ended := startScript(t, `trap '' TERM; sleep 600 & echo ready; while :; do sleep 0.01; done`)
	g.Expect(p.Stop(10 * time.Millisecond)).To(MatchError("sh did not stop within 10ms and was killed"))
	ended()
}

// TestWatchdogCleansUp verifies that stop removes the directory and kills the process in the PID file. It must also
// succeed if the directory no longer exists.
func TestWatchdogCleansUp(t *testing.T) {
	g := NewWithT(t)
	p, group, ended := startScript(t, `sleep 600 & echo $$; wait`)
	t.Cleanup(func() { _ = p.Kill() })
	t.Setenv("PATH", "")
	folder := filepath.Join(t.TempDir(), "folder")
	g.Expect(os.MkdirAll(filepath.Join(folder, "nested"), 0o755)).To(Succeed())
	unwatch, err := process.Watch(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(folder, "child.pid"), []byte("-"+group), 0o600)).To(Succeed())
	g.Expect(unwatch()).To(Succeed())
	g.Expect(folder).NotTo(BeADirectory())
	ended()

	unwatch, err = process.Watch(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unwatch()).To(Succeed())
}

func TestCommandInTerminalIsWatched(t *testing.T) {
	needsProcess(t)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !term.IsTerminal(int(terminal.Fd())) {
		t.Skip("needs a terminal: ", err)
	}
	defer terminal.Close()
	g := NewWithT(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	command := exec.CommandContext(t.Context(), "true")
	command.Stdin = terminal
	g.Expect(process.Run(command, time.Minute, pidFile)).To(Succeed())
	g.Expect(os.ReadFile(pidFile)).To(BeEquivalentTo(fmt.Sprintln(command.Process.Pid)))
}

func TestInterruptStopsCommandAndChildren(t *testing.T) {
	needsProcess(t)
	for script, prints := range map[string]string{
		"echo ready; sleep 600; true":       "",
		"sleep 600 & echo ready; sleep 600": "",
		"trap : TERM; (trap 'echo stopped; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait; wait": "stopped\n",
	} {
		t.Run(script, func(t *testing.T) {
			g := NewWithT(t)
			ctx, cancel := context.WithCancel(t.Context())
			output, write, err := os.Pipe()
			g.Expect(err).NotTo(HaveOccurred())
			defer output.Close()
			command := exec.CommandContext(ctx, "sh", "-c", script)
			command.Stdout = write
			pidFile, ended := filepath.Join(t.TempDir(), "pid"), make(chan error, 1)
			go func() { ended <- process.Run(command, time.Minute, pidFile) }()
			reader := bufio.NewReader(output)
			g.Expect(reader.ReadString('\n')).To(Equal("ready\n"))
			write.Close()
			cancel()
			g.Eventually(ended).WithTimeout(timeout).Should(Receive(HaveOccurred()))
			g.Expect(os.ReadFile(pidFile)).To(BeEquivalentTo(fmt.Sprintln(-command.Process.Pid)))
			g.Expect(output.SetReadDeadline(time.Now().Add(timeout))).To(Succeed())
			rest, err := io.ReadAll(reader)
			g.Expect(err).NotTo(HaveOccurred(), "the child is left")
			g.Expect(string(rest)).To(Equal(prints))
		})
	}
}
