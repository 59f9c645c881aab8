package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/process"
)

const (
	etcd                  = "etcd"
	apiServer             = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
)

// processNames are the executables, in the order in which they start.
var processNames = []string{etcd, apiServer, controllerManagerName}

// findBinaries returns the folder of the executables. A folder that the user names is used or rejected, never
// silently replaced.
func findBinaries(ctx context.Context) (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return binaries.Ensure(ctx, "", os.Stderr)
	}
	for _, name := range processNames {
		if info, err := os.Stat(filepath.Join(assets, name)); err != nil || info.IsDir() {
			return "", fmt.Errorf("KUBEBUILDER_ASSETS=%s has no %s: unset it, or run `make control-plane`", assets, name)
		}
	}
	return assets, nil
}

func (cp *ControlPlane) dataDir(name string) string {
	return filepath.Join(cp.dir, name+".data")
}

func (cp *ControlPlane) logPath(name string) string {
	return filepath.Join(cp.LogsDir, name+".log")
}

// openLog returns the log of a process, which goes on where it ended when the process is started again.
func (cp *ControlPlane) openLog(name string) (*os.File, error) {
	if log := cp.logs[name]; log != nil {
		return log, nil
	}
	log, err := os.Create(cp.logPath(name))
	if err == nil {
		cp.logs[name] = log
	}
	return log, err
}

func (cp *ControlPlane) startError(name string, err error) error {
	return fmt.Errorf("%s did not start: %w: %s", name, err, process.LastError(cp.logPath(name)))
}

// exited returns an error for each process that exited before Stop.
func (cp *ControlPlane) exited() error {
	var errs []error
	for _, name := range processNames {
		if pid, started := cp.pid(name); started && isGone(pid) {
			errs = append(errs, fmt.Errorf("%s died: %s", name, process.LastError(cp.logPath(name))))
		}
	}
	return errors.Join(errs...)
}

func pidFile(dir, name string) string { return filepath.Join(dir, name) + ".pid" }

// pid returns the id of a process that was started and not killed by Crash.
func (cp *ControlPlane) pid(name string) (pid int, started bool) {
	noted, err := os.ReadFile(pidFile(cp.dir, name))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(noted)))
	return pid, err == nil
}

// isGone tells whether a process has ended, and its parent knows.
func isGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
