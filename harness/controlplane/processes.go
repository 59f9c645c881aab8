package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/operator-assay/assay/harness/process"
)

const (
	etcd                  = "etcd"
	apiServer             = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
)

// Binaries are the executables of a control plane, in the order in which they start.
var Binaries = []string{etcd, apiServer, controllerManagerName}

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
	for _, name := range Binaries {
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
