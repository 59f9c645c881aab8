package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operator-assay/assay/harness/wait"
)

// killProcessesOf kills the components of a kwok cluster that run a program in dir, or this very program, and waits until
// they are gone. They are recognized by name and arguments, because a recorded process id may be another process's after a
// restart of the machine.
func killProcessesOf(ctx context.Context, dir string) error {
	// The system reports the end of a process to its parent only.
	return wait.For(ctx, 0, wait.Poll(10*time.Millisecond), func(ctx context.Context) error {
		left, err := processesOf(ctx, dir)
		if err != nil {
			return wait.Stop(err)
		}
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return wait.Stop(fmt.Errorf("killing process %d: %w", pid, err))
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%d processes of %s have not ended", len(left), dir)
		}
		return nil
	})
}

// processesOf returns the ids of the components, which kwokctl runs by links in dir, and of the kwokctl that may be about
// to start some. If dir is such a link, it returns the processes that run by it. Paths may contain spaces, and ps does not
// quote them, so the start of the command line counts.
func processesOf(ctx context.Context, dir string) ([]int, error) {
	commands, err := commandLines(ctx)
	if err != nil {
		return nil, err
	}
	inside := dir + string(filepath.Separator)
	var found []int
	for pid, command := range commands {
		_, arguments, isKwokctl := strings.Cut(command, "kwokctl ")
		starts := isKwokctl && strings.Contains(arguments, inside)
		if strings.HasPrefix(command+" ", dir+" ") || strings.HasPrefix(command, inside) || starts {
			found = append(found, pid)
		}
	}
	return found, nil
}

// commandLines returns the program and arguments of every process, by its id.
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
	// Small containers have no ps.
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")); err == nil { // else it has ended
			lines[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte(" ")))
		}
	}
	return lines, nil
}
