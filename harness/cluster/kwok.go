package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/process"
)

// maxManagerRestarts is the maximum number of restarts of the controller-manager, which exits if the API server is not
// healthy within 10s.
const maxManagerRestarts = 4

// kwokTimeout is long enough for an overloaded machine; creating a cluster usually takes a few seconds.
const kwokTimeout = 2 * time.Minute

func (k *kwok) binDir() string { return filepath.Join(k.clusterDir(), "bin") }

// linkBinaries creates the links to executables that kwokctl would create. kwokctl parses the paths of executables as
// URLs, so it does not find them in a directory whose path contains % or #.
func (k *kwok) linkBinaries() error {
	if err := os.MkdirAll(k.binDir(), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"etcd", "kube-apiserver", controllerManager, "kube-scheduler", "kubectl"} {
		if err := os.Symlink(filepath.Join(k.plane, name), filepath.Join(k.binDir(), name)); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(k.tools, "kwok"), filepath.Join(k.binDir(), "kwok-controller"))
}

const bindAddress = "127.0.0.1"

// kwok uses kwokctl to create clusters whose components are local processes. All of a cluster's files are in its state
// directory, so its processes can be identified by their arguments.
type kwok struct {
	options  Options
	stateDir *stateDir
	plane    string // the directory with the control plane's executables
	tools    string // the directory with kwok and kwokctl
}

// workDir is kwokctl's working directory if HOME is set to the state directory. Do not set KWOK_WORKDIR instead,
// because kwokctl truncates it at the first space.
func (k *kwok) workDir() string { return filepath.Join(k.stateDir.dir, ".kwok") }

func (k *kwok) auditPolicy() string { return filepath.Join(k.workDir(), "audit-policy.yaml") }

func (k *kwok) auditLog() string { return filepath.Join(k.logsDir(), "audit.log") }

func (k *kwok) logsDir() string { return filepath.Join(k.clusterDir(), "logs") }

func (k *kwok) clusterDir() string { return filepath.Join(k.workDir(), "clusters", k.options.Name) }

// nameAvailable always succeeds, because only this package creates clusters in the state directory.
func (k *kwok) nameAvailable(context.Context) error { return nil }

func (k *kwok) create(ctx context.Context) error {
	// kwok parses the path of its configuration as CSV.
	if strings.ContainsAny(k.stateDir.dir, "\",\n") {
		return fmt.Errorf("kwok does not support quotes, commas and line breaks in the path %q: set XDG_CACHE_HOME to another directory", k.stateDir.dir)
	}
	if err := process.CheckLoopback(ctx, bindAddress); err != nil {
		return err
	}
	if err := k.ensureBinaries(ctx); err != nil {
		return err
	}
	if err := k.configure(); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeoutCause(ctx, kwokTimeout, fmt.Errorf("it took longer than %s", kwokTimeout))
	defer cancel()
	watched, stop := k.whileRunning(ctx)
	defer stop()
	nodes := strconv.Itoa(k.options.Nodes)
	pods := fmt.Sprintf(".allocatable.pods=%d", k.options.PodsPerNode)
	for _, step := range []func() error{
		func() error { return k.run(watched, "create", "cluster", "--kubeconfig="+k.stateDir.kubeconfig()) },
		func() error { return k.run(watched, "scale", "node", "--replicas="+nodes, "--param="+pods) },
		func() error { return waitReady(watched, k.stateDir.kubeconfig(), k.options.Nodes) },
	} {
		err := step()
		if watched.Err() != nil {
			err = context.Cause(watched)
		}
		if err != nil && strings.Contains(err.Error(), process.NoSpace) {
			return fmt.Errorf("kwok did not start: %w: free disk space for %s, or set XDG_CACHE_HOME to a directory on another disk", err, k.stateDir.dir)
		}
		if err != nil {
			return fmt.Errorf("kwok did not start: %w", err)
		}
	}
	return nil
}

func (k *kwok) ensureBinaries(ctx context.Context) (err error) {
	if k.plane, err = binaries.Ensure(ctx, k.options.KubernetesVersion, k.options.Progress); err != nil {
		return err
	}
	k.tools, err = binaries.EnsureKWOK(ctx, k.options.Progress)
	return err
}

func (k *kwok) configure() error {
	port, err := freePorts(6)
	if err != nil {
		return err
	}
	options := map[string]any{
		"runtime":     "binary",
		"kubeVersion": k.options.KubernetesVersion,
		// By default, etcd would listen on all interfaces without authentication.
		"bindAddress":               bindAddress,
		"securePort":                true,
		"kubeAuthorization":         true,
		"kubeAdmission":             true,
		"disableQPSLimits":          true,
		"etcdPort":                  port,
		"etcdPeerPort":              port + 1,
		"kubeApiserverPort":         port + 2,
		"kubeControllerManagerPort": port + 3,
		"kubeSchedulerPort":         port + 4,
		"kwokControllerPort":        port + 5,
		// If the machine sleeps, the nodes miss heartbeats and their Pods are marked as not ready. kwok would not make
		// these Pods ready again.
		"heartbeatFactor": 1,
		"kubeControllerManagerNodeMonitorGracePeriodMilliseconds": (365 * 24 * time.Hour).Milliseconds(),
	}
	// An interrupted removal may have left files.
	if err := errors.Join(os.RemoveAll(k.clusterDir()), k.linkBinaries()); err != nil {
		return notWritable(err)
	}
	serverArgs := []map[string]string{
		{"key": "service-cluster-ip-range", "value": "10.96.0.0/12"}, // the default range only has 254 addresses
		{"key": "advertise-address", "value": "192.0.2.1"},           // the default requires a network route; see package controlplane
	}
	if k.options.AuditPolicy != "" {
		options["kubeAuditPolicy"] = k.auditPolicy()
		serverArgs = append(serverArgs, map[string]string{"key": "audit-log-maxsize", "value": "100000"}) // in MB; prevents rotation
		if err := os.WriteFile(k.auditPolicy(), []byte(k.options.AuditPolicy), 0o600); err != nil {
			return notWritable(err)
		}
	}
	content, err := json.Marshal(map[string]any{ // JSON is valid YAML
		"apiVersion": "config.kwok.x-k8s.io/v1alpha1",
		"kind":       "KwokctlConfiguration",
		"options":    options,
		"componentsPatches": []any{
			map[string]any{"name": "kube-apiserver", "extraArgs": serverArgs},
			// Without leader election, a restarted controller-manager does not wait for the old Lease to expire.
			map[string]any{"name": "kube-controller-manager", "extraArgs": []map[string]string{{"key": "leader-elect", "value": "false"}}},
			// The data is discarded when the processes exit, so fsync is not needed. envtest does the same.
			map[string]any{"name": "etcd", "extraArgs": []map[string]string{{"key": "unsafe-no-fsync", "value": "true"}}},
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.workDir(), "kwok.yaml"), content, 0o600)
}

// firstBlock is random, so that clusters that several processes create at the same time rarely get the same ports.
var firstBlock = rand.IntN(1 << 16)

// triedBlocks is the number of blocks of ports that freePorts has tried.
var triedBlocks atomic.Int32

// freePorts returns the first of several consecutive ports that no process is listening on. It tries another block of
// ports in each call, because the components of the previous clusters may not be listening yet. All ports are below the
// ephemeral port range.
func freePorts(count int) (int, error) {
	const first, last = 20000, 32000
	blocks := (last - first) / count
	var err error
	for range blocks {
		port := first + (firstBlock+int(triedBlocks.Add(1)))%blocks*count
		if err = areFree(port, count); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("cannot find %d free ports from %d to %d: %w", count, first, last, err)
}

func areFree(port, count int) error {
	for i := range count {
		listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", bindAddress, port+i))
		if err != nil {
			return err
		}
		listener.Close()
	}
	return nil
}

// run runs kwokctl without the environment variables that configure the user's own clusters. etcd would read ETCD_* as
// flags.
func (k *kwok) run(ctx context.Context, args ...string) error {
	command := process.Command(ctx, filepath.Join(k.tools, "kwokctl"), append(args, "--name="+k.options.Name)...)
	command.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KWOK_") || strings.HasPrefix(variable, "ETCD_") || strings.HasPrefix(variable, "KUBECONFIG=")
	}), "HOME="+k.stateDir.dir, "PATH="+k.binDir()+string(os.PathListSeparator)+os.Getenv("PATH")) // kwokctl looks for kubectl in PATH
	_, err := process.Output(command)
	return err
}

// whileRunning returns a context that is canceled with the component's last error when a component exits; kwokctl
// itself would wait for minutes. On a busy machine, the API server can take longer than 10s to start. In that case the
// controller-manager exits, and whileRunning restarts it.
func (k *kwok) whileRunning(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	restarts := 0
	go utilwait.UntilWithContext(ctx, func(ctx context.Context) {
		err := k.exitedProcess(ctx)
		if err != nil && restarts < maxManagerRestarts && strings.Contains(err.Error(), "failed to wait for apiserver being healthy") {
			restarts++
			err = k.restartControllerManager(ctx)
		}
		if err != nil {
			cancel(err)
		}
	}, 200*time.Millisecond)
	return ctx, func() { cancel(nil) }
}

// exitedProcess returns an error if a component has exited. A zombie process counts as exited, because processesOf does
// not return it.
func (k *kwok) exitedProcess(ctx context.Context) error {
	noted, err := fs.Glob(os.DirFS(k.pidsDir()), "*.pid")
	if err != nil {
		return err
	}
	alive, err := processesOf(ctx, k.stateDir.dir)
	if err != nil {
		return err
	}
	for _, file := range noted {
		content, err := os.ReadFile(filepath.Join(k.pidsDir(), file))
		if err != nil {
			continue // the file was removed in the meantime
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err == nil && !slices.Contains(alive, pid) {
			name := strings.TrimSuffix(file, ".pid")
			return fmt.Errorf("%s died: %s", name, process.LastError(filepath.Join(k.logsDir(), name+".log")))
		}
	}
	return nil
}

func (k *kwok) pidsDir() string { return filepath.Join(k.clusterDir(), "pids") }

func (k *kwok) pidFile(component string) string { return filepath.Join(k.pidsDir(), component+".pid") }

// discoverKinds restarts the controller-manager, which discovers all kinds when it starts.
func (k *kwok) discoverKinds(ctx context.Context) error {
	if err := k.ensureBinaries(ctx); err != nil {
		return err
	}
	if err := killProcessesOf(ctx, filepath.Join(k.binDir(), controllerManager)); err != nil {
		return err
	}
	return k.restartControllerManager(ctx)
}

const controllerManager = "kube-controller-manager"

func (k *kwok) restartControllerManager(ctx context.Context) error {
	// Without this, kwokctl would assume that a zombie process is still running.
	if err := os.RemoveAll(k.pidFile(controllerManager)); err != nil {
		return err
	}
	return k.run(ctx, "start", "cluster") // starts the components that are not running
}

// remove kills all of the cluster's processes. It does not use kwokctl, which kills the recorded PIDs, because they may
// belong to other processes by now. The order does not matter, because the data is discarded.
func (k *kwok) remove(ctx context.Context, _ bool) error { return killProcessesOf(ctx, k.stateDir.dir) }

func (k *kwok) load(context.Context, string) error {
	return errors.New("images cannot be loaded into a kwok cluster, because it runs no containers")
}

func (k *kwok) exportLogs(_ context.Context, dir string) error {
	return os.CopyFS(dir, os.DirFS(k.logsDir()))
}
