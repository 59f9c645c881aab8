package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/operator-assay/assay/harness/binaries"
	"github.com/operator-assay/assay/harness/process"
)

// maxManagerRestarts is the maximum number of restarts of the controller-manager, which exits if the API server is not
// healthy within 10s.
const maxManagerRestarts = 20

// kwokTimeout is long enough for an overloaded machine; creating a cluster usually takes a few seconds.
const kwokTimeout = 10 * time.Minute

const bindAddress = "127.0.0.1"

// kwok uses kwokctl to create clusters whose components are local processes. All of a cluster's files are in its state
// directory, including links to the executables, so its processes can be identified by their paths.
type kwok struct {
	options  Options
	stateDir *stateDir
}

// workDir is kwokctl's working directory if HOME is set to the state directory. Do not set KWOK_WORKDIR instead,
// because kwokctl truncates it at the first space.
func (k *kwok) workDir() string { return filepath.Join(k.stateDir.dir, ".kwok") }

// kwokctl returns the path of a link to the kwokctl executable. Because the link is in the cluster's state directory,
// processesOf also finds a running kwokctl.
func (k *kwok) kwokctl() string { return filepath.Join(k.workDir(), "kwokctl") }

func (k *kwok) auditPolicy() string { return filepath.Join(k.workDir(), "audit-policy.yaml") }

func (k *kwok) auditLog() string { return filepath.Join(k.logsDir(), "audit.log") }

func (k *kwok) logsDir() string { return filepath.Join(k.clusterDir(), "logs") }

func (k *kwok) clusterDir() string { return filepath.Join(k.workDir(), "clusters", k.options.Name) }

func (k *kwok) create(ctx context.Context) error {
	if err := process.CheckLoopback(ctx, bindAddress); err != nil {
		return err
	}
	plane, err := binaries.Ensure(ctx, k.options.KubernetesVersion, k.options.Progress)
	if err != nil {
		return err
	}
	tools, err := binaries.EnsureKWOK(ctx, k.options.Progress)
	if err != nil {
		return err
	}
	if err := k.configure(plane, tools); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeoutCause(ctx, kwokTimeout, fmt.Errorf("it took longer than %s", kwokTimeout))
	defer cancel()
	watched, stop := k.whileRunning(ctx)
	defer stop()
	nodes := strconv.Itoa(k.options.Nodes)
	pods := fmt.Sprintf(".allocatable.pods=%d", k.options.PodsPerNode)
	err = k.run(watched, "create", "cluster", "--kubeconfig="+k.stateDir.kubeconfig())
	if err == nil {
		err = k.run(watched, "scale", "node", "--replicas="+nodes, "--param="+pods)
	}
	if err == nil {
		err = waitReady(watched, k.stateDir.kubeconfig(), k.options.Nodes)
	}
	if watched.Err() != nil {
		err = context.Cause(watched)
	}
	if err != nil && strings.Contains(err.Error(), process.NoSpace) {
		err = fmt.Errorf("%w: free disk space for %s, or set XDG_CACHE_HOME to a directory on another disk", err, k.stateDir.dir)
	}
	if err != nil {
		return fmt.Errorf("kwok did not start: %w", err)
	}
	return nil
}

// configure prepares the cluster's directory. tools is the directory that contains kwok and kwokctl.
func (k *kwok) configure(plane, tools string) error {
	ports, err := freePorts(6)
	if err != nil {
		return err
	}
	options := map[string]any{
		"runtime":              "binary",
		"kubeVersion":          k.options.KubernetesVersion,
		"kubeBinaryPrefix":     plane,
		"etcdBinary":           filepath.Join(plane, "etcd"),
		"kwokControllerBinary": filepath.Join(tools, "kwok"),
		// By default, etcd would listen on all interfaces without authentication.
		"bindAddress":               bindAddress,
		"securePort":                true,
		"kubeAuthorization":         true,
		"kubeAdmission":             true,
		"disableQPSLimits":          true,
		"etcdPort":                  ports[0],
		"etcdPeerPort":              ports[1],
		"kubeApiserverPort":         ports[2],
		"kubeControllerManagerPort": ports[3],
		"kubeSchedulerPort":         ports[4],
		"kwokControllerPort":        ports[5],
		// If the machine sleeps, the nodes miss heartbeats and their Pods are marked as not ready. kwok would not make
		// these Pods ready again.
		"heartbeatFactor": 1,
		"kubeControllerManagerNodeMonitorGracePeriodMilliseconds": (365 * 24 * time.Hour).Milliseconds(),
	}
	if err := errors.Join(os.MkdirAll(k.workDir(), 0o700), os.Symlink(filepath.Join(tools, "kwokctl"), k.kwokctl())); err != nil {
		return err
	}
	serverArgs := []map[string]string{
		{"key": "service-cluster-ip-range", "value": "10.96.0.0/12"}, // the default range only has 254 addresses
		{"key": "advertise-address", "value": "192.0.2.1"},           // the default requires a network route; see package controlplane
	}
	if k.options.AuditPolicy != "" {
		options["kubeAuditPolicy"] = k.auditPolicy()
		serverArgs = append(serverArgs, map[string]string{"key": "audit-log-maxsize", "value": "100000"}) // in MB; prevents rotation
		if err := os.WriteFile(k.auditPolicy(), []byte(k.options.AuditPolicy), 0o600); err != nil {
			return err
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

func freePorts(count int) ([]int, error) {
	var ports []int
	for range count {
		listener, err := net.Listen("tcp", bindAddress+":0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // if it were closed now, the next Listen could return the same port
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// run runs kwokctl without the environment of this process, because kwokctl and the components read many variables,
// such as KWOK_*, ETCD_* and KUBECONFIG. If PATH has no kubectl, kwokctl uses the one in kubeBinaryPrefix.
func (k *kwok) run(ctx context.Context, args ...string) error {
	command := process.Command(ctx, k.kwokctl(), append(args, "--name="+k.options.Name)...)
	command.Env = []string{"HOME=" + k.stateDir.dir}
	_, err := process.Output(command)
	return err
}

// whileRunning returns a context that is canceled when a component exits, so that kwokctl does not wait for minutes.
// The cause is the last error of the component. The controller-manager exits if the API server takes longer than 10s to
// start, for example on a busy machine. It is then restarted, at most maxManagerRestarts times.
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

// exitedProcess returns an error if a component has exited. A zombie counts as exited, because processesOf omits it.
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
	if err := killProcessesOf(ctx, filepath.Join(k.clusterDir(), "bin", controllerManager)); err != nil {
		return err
	}
	return k.restartControllerManager(ctx)
}

const controllerManager = "kube-controller-manager"

func (k *kwok) restartControllerManager(ctx context.Context) error {
	// Remove the PID file, because kwokctl treats a zombie process as running.
	if err := os.RemoveAll(k.pidFile(controllerManager)); err != nil {
		return err
	}
	return k.run(ctx, "start", "cluster") // starts the components that are not running
}

// remove kills all of the cluster's processes. It does not use kwokctl, which kills the PIDs in its PID files, even if
// they now belong to other processes. The order does not matter, because the data is discarded.
func (k *kwok) remove(ctx context.Context) error { return killProcessesOf(ctx, k.stateDir.dir) }

func (k *kwok) exportLogs(_ context.Context, dir string) error {
	return os.CopyFS(dir, os.DirFS(k.logsDir()))
}
