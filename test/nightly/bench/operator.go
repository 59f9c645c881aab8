package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/report/results"
)

// Names in operator/config/default.
const (
	operatorNamespace = "assay-system"
	operatorAccount   = "assay-controller-manager"
	operatorUser      = "system:serviceaccount:" + operatorNamespace + ":" + operatorAccount
)

// goMemoryLimit is the memory limit in operator/config/manager.
const goMemoryLimit = "GOMEMLIMIT=230MiB"

// stopLimit is the maximum time for a graceful shutdown of the operator.
const stopLimit = 40 * time.Second

// operatorProgram is the name of the operator's executable in the cluster's directory. When the cluster is removed,
// all processes that run a program in that directory are killed, including processes from a killed run.
const operatorProgram = "operator"

// buildOperator builds the operator from the working tree, or uses the executable in OPERATOR.
func buildOperator(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv("OPERATOR"); path != "" {
		if _, err := exec.LookPath(path); err != nil {
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

// instance is a running operator.
type instance struct {
	*process.Process
	command *exec.Cmd
	log     string      // the path of its log
	unwatch func() bool // call before stopping the process, so that its exit is not reported as a failure
}

// startOperator starts the operator with the identity of its ServiceAccount.
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
	p.unwatch = context.AfterFunc(p.Context(ctx), func() {
		e.fail(fmt.Errorf("the operator has ended by itself: %s: see %s", p.State(), p.log))
	})
	e.operator = p
	return nil
}

// startProcess starts the operator with the arguments and the environment variables in its manifest.
func startProcess(program, kubeconfig, log string) (*instance, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	command := exec.Command(program, "--kubeconfig="+kubeconfig,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=0")
	command.Stdout, command.Stderr = out, out
	command.Env = append(slices.DeleteFunc(os.Environ(), changesRuntime), goMemoryLimit)
	started, err := process.Start(command)
	if err != nil {
		return nil, fmt.Errorf("cannot start the operator: %w", err)
	}
	return &instance{Process: started, command: command, log: log}, nil
}

// changesRuntime reports whether an environment variable affects the Go runtime of the operator.
func changesRuntime(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}, name)
}

// stopOperator stops the operator gracefully, so that it releases its Lease.
func (e *env) stopOperator() error {
	p := e.operator
	e.operator = nil
	p.unwatch()
	if err := p.Stop(stopLimit); err != nil {
		return fmt.Errorf("%w: see %s", err, p.log)
	}
	if p.State().ExitCode() != 0 {
		return fmt.Errorf("the operator ended with %s: see %s", p.State(), p.log)
	}
	return nil
}

// memory returns the memory usage of the operator. It is zero on systems without /proc.
func (p *instance) memory() (results.BenchMemory, error) {
	if _, err := procfs.NewDefaultFS(); err != nil {
		return results.BenchMemory{}, nil
	}
	proc, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return results.BenchMemory{}, fmt.Errorf("the operator has ended: see %s: %w", p.log, err)
	}
	status, err := proc.NewStatus()
	return results.BenchMemory{RSS: status.VmRSS, PeakRSS: status.VmHWM, Anon: status.RssAnon}, err
}
