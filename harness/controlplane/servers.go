package controlplane

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	"github.com/operator-assay/assay/harness/pod"
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

const (
	// advertiseAddress is the address that the API server advertises. By default, the API server derives it from the
	// host's default route, which does not exist on an offline laptop. The endpoints of the kubernetes Service must not
	// contain a loopback address, so use an address that is reserved for documentation.
	advertiseAddress = "192.0.2.1"

	servingCert = "serving.crt"
	servingKey  = "serving.key"
)

// servers manages the processes of a control plane: first etcd and kube-apiserver, and later kube-controller-manager.
type servers struct {
	assets    string     // the directory of the executables
	dir       string     // the directory of the data and logs
	sockets   []*os.File // reserve the ports
	etcdURL   string
	admin     *rest.Config
	processes map[string]*process.Process // by name
	release   func() error                // stops the watchdog, or waits until Reserve has stopped the servers
	isTaken   bool                        // whether etcd and kube-apiserver belong to Reserve
}

func startServers(ctx context.Context, assets string) (*servers, error) {
	s := &servers{assets: assets, processes: map[string]*process.Process{}}
	err := process.CheckLoopback(ctx)
	if err == nil {
		err = s.prepare()
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		_ = s.stop() // return the first error, which is the cause
		return nil, cmp.Or(ctx.Err(), err)
	}
	return s, nil
}

func (s *servers) prepare() (err error) {
	if s.dir, err = process.MakeTempDir("assay-control-plane-"); err != nil {
		return err
	}
	watchdog, err := process.Watch(s.dir)
	if err != nil {
		return err
	}
	s.release = watchdog.Stop
	etcdPort, err := s.reservePort()
	if err != nil {
		return err
	}
	port, err := s.reservePort()
	if err != nil {
		return err
	}
	certificates, err := pod.NewCertificates(loopback, "localhost")
	if err != nil {
		return err
	}
	signer, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	token := rand.Text()
	s.etcdURL = fmt.Sprintf("http://%s:%d", loopback, etcdPort)
	s.admin = &rest.Config{
		Host:            fmt.Sprintf("https://%s:%d", loopback, port),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: certificates.CA},
		QPS:             -1,
	}
	errs := []error{os.Mkdir(s.logsDir(), 0o755), process.WriteKubeconfig(s.kubeconfig(), s.admin, "")}
	for name, content := range map[string][]byte{
		servingCert:         certificates.Certificate,
		servingKey:          certificates.Key,
		"signer.key":        signer,
		"tokens.csv":        []byte(token + `,admin,admin,"system:masters"`),
		"audit-policy.yaml": []byte(auditPolicy),
	} {
		errs = append(errs, os.WriteFile(s.path(name), content, 0o600))
	}
	return errors.Join(errs...)
}

func (s *servers) path(name string) string { return filepath.Join(s.dir, name) }

func (s *servers) logsDir() string { return s.path("logs") }

func (s *servers) logPath(name string) string { return filepath.Join(s.logsDir(), name+".log") }

// kubeconfig returns the path of the administrator's kubeconfig.
func (s *servers) kubeconfig() string { return s.path("kubeconfig") }

// start starts etcd and kube-apiserver, or restarts them after kill.
func (s *servers) start(ctx context.Context) error {
	err := s.run(ctx, etcd, s.isHealthy(s.etcdURL+"/health"),
		"--data-dir="+s.path("etcd"),
		"--listen-client-urls="+s.etcdURL,
		"--advertise-client-urls="+s.etcdURL,
		"--listen-peer-urls=http://"+loopback+":0",
		"--socket-reuse-port",
		"--unsafe-no-fsync",
		// etcd elects its only member after the election timeout.
		"--election-timeout=300",
		"--heartbeat-interval=30",
	)
	if err != nil {
		return err
	}
	return s.run(ctx, apiServer, s.isHealthy(s.admin.Host+"/healthz"),
		"--etcd-servers="+s.etcdURL,
		"--bind-address="+loopback,
		"--secure-port="+s.admin.Host[strings.LastIndex(s.admin.Host, ":")+1:],
		"--permit-port-sharing",
		"--advertise-address="+advertiseAddress,
		"--tls-cert-file="+s.path(servingCert),
		"--tls-private-key-file="+s.path(servingKey),
		"--token-auth-file="+s.path("tokens.csv"),
		"--service-account-issuer="+s.admin.Host,
		"--service-account-key-file="+s.path("signer.key"),
		"--service-account-signing-key-file="+s.path("signer.key"),
		"--authorization-mode=RBAC",
		"--allow-privileged",
		"--disable-admission-plugins=TaintNodesByCondition", // no controller would remove the taint from a new Node
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--kubelet-preferred-address-types="+string(kubeletAddressType),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--enable-priority-and-fairness=false", // no other client competes for this API server
		"--audit-policy-file="+s.path("audit-policy.yaml"),
		"--audit-log-path="+filepath.Join(s.logsDir(), auditLog),
	)
}

// run starts a process and waits until it is ready. A restarted process appends to its previous log.
func (s *servers) run(ctx context.Context, name string, ready func(context.Context) error, args ...string) error {
	log, err := os.OpenFile(s.logPath(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(filepath.Join(s.assets, name), args...)
	command.Stdout, command.Stderr = log, log
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "ETCD_") }) // etcd reads them as flags
	started, err := process.Start(command)
	if err != nil {
		return fmt.Errorf("%s did not start on %s/%s: %w: remove it, so that it is fetched again, or set KUBEBUILDER_ASSETS to another directory",
			name, runtime.GOOS, runtime.GOARCH, err)
	}
	s.processes[name] = started
	if err := os.WriteFile(s.pidFile(name), fmt.Appendln(nil, command.Process.Pid), 0o600); err != nil { // for the watchdog
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx = started.Context(ctx)
	if err := ready(ctx); err != nil {
		return s.startError(name, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// isHealthy returns a function that waits until a health endpoint returns 200 OK.
func (s *servers) isHealthy(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := rest.HTTPClientFor(s.admin)
		if err != nil {
			return err
		}
		return wait.For(ctx, 0, wait.Poll(10*time.Millisecond), func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				return errors.New(response.Status)
			}
			return nil
		})
	}
}

func (s *servers) startError(name string, err error) error {
	why := process.LastError(s.logPath(name))
	if why == process.NoSpace {
		return fmt.Errorf("%s did not start: %s: free disk space for %s, or set TMPDIR to a directory on another disk", name, why, s.dir)
	}
	return fmt.Errorf("%s did not start: %w: %s", name, err, why)
}

// exited returns an error that names each process that has exited on its own.
func (s *servers) exited() error {
	var errs []error
	for name, started := range s.processes {
		if started.State() != nil {
			errs = append(errs, fmt.Errorf("%s died: %s", name, process.LastError(s.logPath(name))))
		}
	}
	return errors.Join(errs...)
}

func (s *servers) pidFile(name string) string { return s.path(name + ".pid") }

// kill kills all processes, and waits until they have exited.
func (s *servers) kill() error {
	var errs []error
	for name, started := range s.processes {
		errs = append(errs, started.Kill(), os.RemoveAll(s.pidFile(name)))
	}
	clear(s.processes)
	return errors.Join(errs...)
}

func (s *servers) stop() error {
	if s.dir == "" {
		return nil
	}
	errs := []error{s.kill()}
	if s.release != nil {
		errs = append(errs, s.release())
	}
	for _, socket := range s.sockets {
		errs = append(errs, socket.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}
