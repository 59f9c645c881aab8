package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/operator-assay/assay/test/harness/process"
)

// The names in operator/config/default.
const (
	operatorNamespace = "assay-system"
	operatorAccount   = "assay-controller-manager"
	operatorUser      = "system:serviceaccount:" + operatorNamespace + ":" + operatorAccount
)

// goMemoryLimit is that of operator/config/manager.
const goMemoryLimit = "GOMEMLIMIT=230MiB"

// stopLimit is how long the operator may take to end when it is asked to.
const stopLimit = 40 * time.Second

// operatorProgram is the name of the operator's binary in the cluster's folder. Processes of programs in that folder are
// killed when the cluster is removed, even if this run was killed.
const operatorProgram = "operator"

// buildOperator builds the operator of this working tree, or takes the binary that OPERATOR names.
func buildOperator(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv("OPERATOR"); path != "" {
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return "", fmt.Errorf("OPERATOR=%s is no program: name a binary of the operator, or unset it", path)
		}
		return path, nil
	}
	path := filepath.Join(dir, "operator")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./operator")
	command.Dir = root
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the operator cannot be built: %w: %s", err, said)
	}
	return path, nil
}

// startOperator starts the operator's binary with the identity of its ServiceAccount.
func (e *env) startOperator(ctx context.Context) error {
	config, err := e.identity(ctx, operatorAccount)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(e.folder(), "operator.kubeconfig")
	if err := process.WriteKubeconfig(kubeconfig, config, ""); err != nil {
		return err
	}
	e.started++
	log := filepath.Join(e.logs, fmt.Sprintf("operator-%s-%d-%d.log", strings.ToLower(e.kind.Kind), e.count, e.started))
	p, err := startProcess(filepath.Join(e.folder(), operatorProgram), kubeconfig, log)
	if err != nil {
		return err
	}
	e.operator = p
	go func() {
		<-p.ended
		if !p.stopping.Load() {
			e.fail(fmt.Errorf("the operator has ended by itself: %s: see %s", p.command.ProcessState, p.log))
		}
	}()
	return nil
}

func (e *env) stopOperator() error {
	stopped := e.operator
	e.operator = nil
	return stopped.stop()
}

// instance is a running operator.
type instance struct {
	command  *exec.Cmd
	log      string // path
	stopping atomic.Bool
	ended    chan struct{}
}

// startProcess starts the operator with the arguments and the environment of its manifest.
func startProcess(program, kubeconfig, log string) (*instance, error) {
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &instance{log: log, ended: make(chan struct{})}
	p.command = exec.Command(program, "--kubeconfig="+kubeconfig,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--metrics-bind-address="+metrics, "--health-probe-bind-address=0")
	p.command.Stdout, p.command.Stderr = out, out
	p.command.Env = append(withoutRuntime(os.Environ()), goMemoryLimit)
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the bench, which stops the operator
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the operator: %w", err)
	}
	go func() {
		_ = p.command.Wait() // ProcessState has the result
		close(p.ended)
	}()
	return p, nil
}

// withoutRuntime removes the variables that change the operator's Go runtime.
func withoutRuntime(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG":
		default:
			kept = append(kept, variable)
		}
	}
	return kept
}

// stop sends SIGTERM, as the kubelet would, so that the operator releases its Lease.
func (p *instance) stop() error {
	p.stopping.Store(true)
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		_ = p.command.Process.Kill()
		<-p.ended
		return fmt.Errorf("the operator did not end within %s of being asked to: see %s", stopLimit, p.log)
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the operator ended with %s: see %s", p.command.ProcessState, p.log)
	}
	return nil
}

// Memory is a process's memory in bytes. Where there is no /proc, it is zero.
type Memory struct {
	RSS     uint64 `json:"rss"`
	PeakRSS uint64 `json:"peakRSS"` // the highest since its start
	Anon    uint64 `json:"anon"`    // of RSS, without the pages of the binary
}

func (p *instance) memory() (Memory, error) {
	if _, err := procfs.NewDefaultFS(); err != nil {
		return Memory{}, nil
	}
	proc, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return Memory{}, fmt.Errorf("the operator has ended: see %s: %w", p.log, err)
	}
	status, err := proc.NewStatus()
	return Memory{RSS: status.VmRSS, PeakRSS: status.VmHWM, Anon: status.RssAnon}, err
}

// freeAddress is an address that is free at the moment.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
