package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

const (
	etcd                  = "etcd"
	apiServer             = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
)

// Binaries contains the names of the control plane's executables, in start order.
var Binaries = []string{etcd, apiServer, controllerManagerName}

// advertiseAddress is the address that the API server advertises. By default, the API server derives it from the host's
// default route, which does not exist on an offline laptop. The endpoints of the kubernetes Service must not contain a
// loopback address, so use an address that is reserved for documentation.
const advertiseAddress = "192.0.2.1"

// servers manages an etcd and a kube-apiserver, which are started with envtest. dir contains the executables, data and
// logs of the whole control plane, including kube-controller-manager.
type servers struct {
	dir     string
	envtest envtest.ControlPlane
	admin   *rest.Config
	logs    []*os.File
	release func() error // stops the watchdog, or tells Reserve that the servers are no longer in use
	isTaken bool         // whether the servers come from the reserve
}

func startServers(ctx context.Context, binaries string) (*servers, error) {
	s := &servers{}
	err := process.CheckLoopback(ctx, "localhost") // envtest chooses a port there
	if err == nil {
		err = s.prepare(binaries)
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err == nil {
		err = s.addAdmin()
	}
	if err != nil {
		_ = s.stop() // return the first error, which is the cause
		return nil, cmp.Or(ctx.Err(), err)
	}
	return s, nil
}

func (s *servers) prepare(binaries string) (err error) {
	if s.dir, err = process.MakeTempDir("assay-control-plane-"); err != nil {
		return err
	}
	if s.release, err = process.Watch(s.dir); err != nil {
		return err
	}
	for _, folder := range []string{s.logsDir(), s.dataDir(etcd), s.dataDir(apiServer)} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	if err := wrapBinaries(binaries, s.dir); err != nil {
		return err
	}
	return s.configure()
}

func (s *servers) logsDir() string { return filepath.Join(s.dir, "logs") }

func (s *servers) dataDir(name string) string { return filepath.Join(s.dir, name+".data") }

func (s *servers) logPath(name string) string { return filepath.Join(s.logsDir(), name+".log") }

// openLog opens the log file of a process. A restarted process appends to the same file. The file is closed by stop.
func (s *servers) openLog(name string) (*os.File, error) {
	log, err := os.OpenFile(s.logPath(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		s.logs = append(s.logs, log)
	}
	return log, err
}

func (s *servers) configure() error {
	etcdLog, err := s.openLog(etcd)
	if err != nil {
		return err
	}
	s.envtest.Etcd = &envtest.Etcd{
		Path:         filepath.Join(s.dir, etcd),
		DataDir:      s.dataDir(etcd),
		Out:          etcdLog,
		Err:          etcdLog,
		StartTimeout: startTimeout,
	}
	// A single etcd member waits for the election timeout before it becomes the leader.
	s.envtest.Etcd.Configure().Set("election-timeout", "300").Set("heartbeat-interval", "30")

	log, err := s.openLog(apiServer)
	if err != nil {
		return err
	}
	policy := filepath.Join(s.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	server := &envtest.APIServer{
		Path:         filepath.Join(s.dir, apiServer),
		CertDir:      s.dataDir(apiServer),
		Out:          log,
		Err:          log,
		StartTimeout: startTimeout,
	}
	// Unlike envtest, leave the ServiceAccount admission plugin enabled, because the controller-manager creates the
	// default ServiceAccounts.
	server.Configure().
		Set("advertise-address", advertiseAddress).
		Set("disable-admission-plugins", "TaintNodesByCondition"). // no controller would remove the taint from a new Node
		Set("kubelet-preferred-address-types", string(kubeletAddressType)).
		Set("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("service-cluster-ip-range", "10.0.0.0/16"). // envtest's default range only has 254 addresses
		Set("enable-priority-and-fairness", "false").   // no other client competes for this API server
		Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(s.logsDir(), auditLog))
	s.envtest.APIServer = server
	return nil
}

// start starts or restarts the servers. It kills them if ctx is done before they are ready, which envtest cannot do.
func (s *servers) start(ctx context.Context) error {
	done := make(chan struct{})
	defer close(done)
	defer context.AfterFunc(ctx, func() {
		utilwait.Until(func() { _ = s.kill(context.Background()) }, 100*time.Millisecond, done)
	})()
	if err := s.envtest.Etcd.Start(); err != nil {
		return s.startError(etcd, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.envtest.APIServer.EtcdURL = s.envtest.Etcd.URL
	if err := s.envtest.APIServer.Start(); err != nil {
		return s.startError(apiServer, err)
	}
	return nil
}

func (s *servers) startError(name string, err error) error {
	why := process.LastError(s.logPath(name))
	if why == process.NoSpace {
		return fmt.Errorf("%s did not start: %s: free disk space for %s, or set TMPDIR to a directory on another disk", name, why, s.dir)
	}
	return fmt.Errorf("%s did not start: %w: %s", name, err, why)
}

func (s *servers) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }

func (s *servers) addAdmin() error {
	user, err := s.envtest.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, &rest.Config{QPS: -1})
	if err != nil {
		return err
	}
	s.admin = user.Config()
	s.admin.Host = strings.TrimSuffix(s.admin.Host, "/") // clients append paths such as /openapi/v2
	return process.WriteKubeconfig(s.kubeconfig(), s.admin, "")
}

// exited returns an error that names each process that has exited on its own.
func (s *servers) exited() error {
	var errs []error
	for _, name := range Binaries {
		if pid, started := s.pid(name); started && isGone(pid) {
			errs = append(errs, fmt.Errorf("%s died: %s", name, process.LastError(s.logPath(name))))
		}
	}
	return errors.Join(errs...)
}

func (s *servers) pidFile(name string) string { return filepath.Join(s.dir, name) + ".pid" }

// pid returns the PID of a process from its PID file. The file is written when the process starts, and removed by kill.
func (s *servers) pid(name string) (pid int, started bool) {
	noted, err := os.ReadFile(s.pidFile(name))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(noted)))
	return pid, err == nil
}

func isGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// kill kills all processes and their process groups, and waits until their parent has reaped them.
func (s *servers) kill(ctx context.Context) error {
	var killed []int
	for _, name := range []string{controllerManagerName, apiServer, etcd} {
		pid, started := s.pid(name)
		if !started {
			continue
		}
		err := syscall.Kill(-pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) { // envtest runs kube-apiserver --help without a process group
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cannot kill %s: %w", name, err)
		}
		if err := os.RemoveAll(s.pidFile(name)); err != nil {
			return err
		}
		killed = append(killed, pid)
	}
	return wait.For(ctx, stopTimeout, wait.Poll(time.Millisecond), func(context.Context) error {
		if i := slices.IndexFunc(killed, func(pid int) bool { return !isGone(pid) }); i >= 0 {
			return fmt.Errorf("killed process %d is still running", killed[i])
		}
		return nil
	})
}

func (s *servers) stop() error {
	if s.dir == "" {
		return nil
	}
	errs := []error{s.kill(context.Background())}
	for _, log := range s.logs {
		errs = append(errs, log.Close())
	}
	errs = append(errs, os.RemoveAll(s.dir))
	if s.release != nil {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}
