package process_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/process"
)

// withChild starts a shell script that prints the id of a child, and returns that.
func withChild(t *testing.T, script string) (*process.Process, int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	read, write := io.Pipe()
	command.Stdout = write
	command.WaitDelay = time.Second // for a child that holds the output open
	p, err := process.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return p, child
}

func TestStopLetsAProgramEndByItself(t *testing.T) {
	g := NewWithT(t)
	p, _ := withChild(t, `trap 'exit 3' TERM; echo $$; while :; do sleep 0.01; done`)
	g.Expect(p.State()).To(BeNil())
	g.Expect(p.Stop(time.Minute)).To(Succeed())
	g.Expect(p.State().ExitCode()).To(Equal(3))
	g.Expect(p.Stop(time.Minute)).To(Succeed(), "it has ended before")
}

func TestStopKillsWhatDoesNotEndAndItsChildren(t *testing.T) {
	g := NewWithT(t)
	p, child := withChild(t, `trap '' TERM; sleep 600 & echo $!; while :; do sleep 0.01; done`)
	g.Expect(p.Stop(10 * time.Millisecond)).To(MatchError("sh did not stop within 10ms and was killed"))
	g.Eventually(func() error { return syscall.Kill(child, 0) }).WithTimeout(10 * time.Second).Should(MatchError(syscall.ESRCH))
}

// TestAWatchdogCleansUpWhatIsLeft ends it as the end of this process would, before anything is cleaned up, and after.
func TestAWatchdogCleansUpWhatIsLeft(t *testing.T) {
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "folder")
	g.Expect(os.MkdirAll(filepath.Join(folder, "nested"), 0o755)).To(Succeed())
	watchdog, err := process.Watch(folder)
	g.Expect(err).NotTo(HaveOccurred())
	p, child := withChild(t, `sleep 600 & echo $!; wait`)
	t.Cleanup(func() { _ = p.Kill() })
	g.Expect(os.WriteFile(filepath.Join(folder, "child.pid"), []byte(strconv.Itoa(child)), 0o600)).To(Succeed())
	g.Expect(watchdog.Stop()).To(Succeed())
	g.Expect(folder).NotTo(BeADirectory())
	g.Eventually(p.Done()).WithTimeout(time.Minute).Should(BeClosed(), "the child was killed")

	watchdog, err = process.Watch(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(watchdog.Stop()).To(Succeed())
}

func TestContextEndsWithTheProgram(t *testing.T) {
	g := NewWithT(t)
	p, _ := withChild(t, `echo $$; exit 7`)
	ctx := p.Context(t.Context())
	g.Eventually(ctx.Done()).WithTimeout(10 * time.Second).Should(BeClosed())
	g.Expect(context.Cause(ctx)).To(MatchError("exit status 7"))
}

func TestAnIsolatedCommandTakesItsChildrenWithIt(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, "sh", "-c", `sleep 600 & echo $!; wait`)
	output, err := command.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	process.Isolate(command)
	g.Expect(command.Start()).To(Succeed())
	line, err := bufio.NewReader(output).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	child, err := strconv.Atoi(strings.TrimSpace(line))
	g.Expect(err).NotTo(HaveOccurred())
	cancel()
	g.Expect(command.Wait()).NotTo(Succeed())
	g.Eventually(func() error { return syscall.Kill(child, 0) }).WithTimeout(10 * time.Second).Should(MatchError(syscall.ESRCH))
}
