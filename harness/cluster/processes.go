package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/operator-assay/assay/harness/wait"
)

// killProcessesOf kills the processes that processesOf returns, and waits until they have exited. It does not use
// recorded PIDs, which could belong to other processes after a reboot.
func killProcessesOf(ctx context.Context, dir string) error {
	// Only a parent process is notified when a process exits, so poll.
	return wait.For(ctx, 0, wait.Poll(10*time.Millisecond), func(ctx context.Context) error {
		left, err := processesOf(ctx, dir)
		if err != nil {
			return wait.Stop(err)
		}
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return wait.Stop(fmt.Errorf("cannot kill process %d: %w", pid, err))
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%d processes of %s are still running", len(left), dir)
		}
		return nil
	})
}

// processesOf returns the PIDs of all processes that run a program in dir. dir can also be the path of a single
// program. Command lines are compared by prefix, because ps does not quote paths that contain spaces.
func processesOf(ctx context.Context, dir string) ([]int, error) {
	commands, err := commandLines(ctx)
	if err != nil {
		return nil, err
	}
	inside := dir + string(filepath.Separator)
	var found []int
	for pid, command := range commands {
		if strings.HasPrefix(command+" ", dir+" ") || strings.HasPrefix(command, inside) {
			found = append(found, pid)
		}
	}
	return found, nil
}

func commandLines(ctx context.Context) (map[int]string, error) {
	lines := map[int]string{}
	if runtime.GOOS != "linux" {
		out, err := exec.CommandContext(ctx, "ps", "-axww", "-o", "pid=,args=").Output()
		for line := range strings.Lines(string(out)) {
			id, command, _ := strings.Cut(strings.TrimSpace(line), " ")
			if pid, err := strconv.Atoi(id); err == nil {
				lines[pid] = command
			}
		}
		return lines, err
	}
	all, err := procfs.AllProcs() // minimal container images do not contain ps
	for _, process := range all {
		if arguments, err := process.CmdLine(); err == nil { // ignore processes that have exited
			lines[process.PID] = strings.Join(arguments, " ")
		}
	}
	return lines, err
}
