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

// Binaries contains the names of the control plane's executables, in start order.
var Binaries = []string{etcd, apiServer, controllerManagerName}

func (cp *ControlPlane) dataDir(name string) string {
	return filepath.Join(cp.dir, name+".data")
}

func (cp *ControlPlane) logPath(name string) string {
	return filepath.Join(cp.LogsDir, name+".log")
}

// openLog returns the log file of a process. A restarted process appends to the same file.
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

// pid returns the PID of a running process. It returns false if the process was not started or was killed by Crash.
func (cp *ControlPlane) pid(name string) (pid int, started bool) {
	noted, err := os.ReadFile(pidFile(cp.dir, name))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(noted)))
	return pid, err == nil
}

func isGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
