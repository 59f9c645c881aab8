package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operator-assay/assay/test/harness/binaries"
)

const (
	etcd                  = "etcd"
	apiServer             = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
)

// processNames are the executables that run, in the order they start.
var processNames = []string{etcd, apiServer, controllerManagerName}

// findBinaries returns the folder of the executables. One that the user names is taken or refused,
// never silently replaced.
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

// wrapper notes its process id and becomes the executable of its name. envtest does not tell the
// ids of what it starts, and the watchdog needs them from the first moment. When the folder has
// gone, so has its owner, and nothing starts any more.
const wrapper = `#!/bin/sh
echo $$ >"$0.pid" && exec "$0.real" "$@"
`

// wrapBinaries puts a wrapper for each executable of one folder into another.
func wrapBinaries(from, dir string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	for _, name := range processNames {
		path := wrapperOf(dir, name)
		if err := os.Symlink(filepath.Join(from, name), path+".real"); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(wrapper), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func wrapperOf(dir, name string) string {
	return filepath.Join(dir, name)
}

func (cp *ControlPlane) dataDir(name string) string {
	return filepath.Join(cp.dir, name+".data")
}

func (cp *ControlPlane) logPath(name string) string {
	return filepath.Join(cp.LogsDir, name+".log")
}

func (cp *ControlPlane) createLog(name string) (*os.File, error) {
	log, err := os.Create(cp.logPath(name))
	if err == nil {
		cp.logs = append(cp.logs, log)
	}
	return log, err
}

func (cp *ControlPlane) didNotStart(name string, err error) error {
	return fmt.Errorf("%s did not start: %w: %s", name, err, lastWords(cp.logPath(name)))
}

// died tells which processes ended before anyone stopped them.
func (cp *ControlPlane) died() error {
	var faults []error
	for _, name := range processNames {
		noted, err := os.ReadFile(wrapperOf(cp.dir, name) + ".pid")
		if err != nil {
			continue // it never started
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(noted)))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			faults = append(faults, fmt.Errorf("%s died: %s", name, lastWords(cp.logPath(name))))
		}
	}
	return errors.Join(faults...)
}

// complaint matches the lines in which klog, etcd, cobra and the Go runtime say why they give up.
var complaint = regexp.MustCompile(`^[EF]\d{4} |"level":"(error|fatal|panic)"|^(Error|panic|fatal error):`)

// lastWords returns the last complaint in a log, or its last line.
func lastWords(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	last := "it wrote no log"
	complained := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		complains := complaint.MatchString(line)
		if line != "" && (complains || !complained) {
			last, complained = line, complains || complained
		}
	}
	return last
}

// controllerManager is a running kube-controller-manager.
type controllerManager struct {
	command *exec.Cmd
	done    chan struct{} // closed when the process has ended
}

// controllers are those whose work an operator's objects meet, as far as it does not need nodes.
var controllers = []string{
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller",
	"garbage-collector-controller", "namespace-controller",
	"serviceaccount-controller", "resourcequota-controller",
	"endpointslice-controller",
}

func runControllerManager(path, kubeconfig string, log *os.File) (*controllerManager, error) {
	command := exec.Command(path,
		"--kubeconfig="+kubeconfig,
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		// Its default of 20 requests a second would pace every test.
		"--kube-api-qps=5000",
		"--kube-api-burst=10000",
	)
	command.Stdout, command.Stderr = log, log
	// Ctrl-C at a terminal reaches the whole process group; Stop decides on the order instead.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	m := &controllerManager{command: command, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		_ = command.Wait() // how it ended is in its log
	}()
	return m, nil
}

// whileRunning returns a context that also ends when the process does.
func (m *controllerManager) whileRunning(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-m.done:
			cancel(errors.New(m.command.ProcessState.String()))
		case <-ctx.Done():
			cancel(nil)
		}
	}()
	return ctx
}

func (m *controllerManager) stop() error {
	_ = m.command.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-m.done:
		return nil
	case <-time.After(stopTimeout):
	}
	_ = m.command.Process.Kill()
	<-m.done
	return fmt.Errorf("%s did not stop within %s and was killed", controllerManagerName, stopTimeout)
}
