package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

const (
	localhost = "127.0.0.1"

	// healthInterval is the interval at which startServer asks a server whether it is ready.
	healthInterval = 25 * time.Millisecond
)

// advertiseAddress is the address that the API server advertises. By default, the API server derives it from the host's
// default route, which does not exist on an offline laptop. The endpoints of the kubernetes Service must not contain a
// loopback address, so use an address that is reserved for documentation.
const advertiseAddress = "192.0.2.1"

// ports are the ports of etcd and the API server. They stay the same after a restart.
type ports struct{ Etcd, EtcdPeer, APIServer int }

func address(port int) string { return fmt.Sprintf("%s:%d", localhost, port) }

func (cp *ControlPlane) startServers(ctx context.Context) error {
	return runSteps(ctx, cp.prepare, cp.startEtcd, cp.startAPIServer)
}

// prepare creates the files of the control plane and chooses its ports.
func (cp *ControlPlane) prepare(context.Context) (err error) {
	if cp.dir, err = os.MkdirTemp("", "assay-control-plane-"); err != nil {
		return err
	}
	if cp.watchdog, err = process.Watch(cp.dir); err != nil {
		return err
	}
	cp.LogsDir = cmp.Or(cp.options.LogsDir, filepath.Join(cp.dir, "logs"))
	for _, folder := range []string{cp.LogsDir, cp.dataDir(etcd), cp.dataDir(apiServer)} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	for _, name := range Binaries {
		if err := os.WriteFile(cp.logPath(name), nil, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(cp.auditPolicy(), []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	free, err := process.FreePorts(3)
	if err != nil {
		return err
	}
	cp.ports = ports{Etcd: free[0], EtcdPeer: free[1], APIServer: free[2]}
	if cp.authority, err = newAuthority(cp.dataDir(apiServer)); err != nil {
		return err
	}
	certificate, key := cp.servingCertificate()
	return errors.Join(cp.authority.writeServingCertificate(certificate, key), cp.connect())
}

func (cp *ControlPlane) auditPolicy() string { return filepath.Join(cp.dir, "audit-policy.yaml") }

func (cp *ControlPlane) servingCertificate() (certificate, key string) {
	return filepath.Join(cp.dataDir(apiServer), "apiserver.crt"), filepath.Join(cp.dataDir(apiServer), "apiserver.key")
}

func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	url := "http://" + address(cp.ports.Etcd)
	isReady := func(ctx context.Context) error {
		return cp.callEtcd(ctx, "range", map[string]any{"key": []byte{0}}, &struct{}{})
	}
	return cp.startServer(ctx, isReady, etcd,
		"--data-dir="+cp.dataDir(etcd),
		"--listen-client-urls="+url,
		"--advertise-client-urls="+url,
		"--listen-peer-urls=http://"+address(cp.ports.EtcdPeer),
		"--unsafe-no-fsync", // the data does not outlive the process
		// A single member waits for an election, too. With the defaults, that takes up to a second.
		"--heartbeat-interval=10",
		"--election-timeout=100",
	)
}

func (cp *ControlPlane) startAPIServer(ctx context.Context) error {
	certificate, key := cp.servingCertificate()
	return cp.startServer(ctx, cp.isReady, apiServer,
		"--etcd-servers=http://"+address(cp.ports.Etcd),
		"--bind-address="+localhost,
		"--secure-port="+strconv.Itoa(cp.ports.APIServer),
		"--tls-cert-file="+certificate,
		"--tls-private-key-file="+key,
		"--client-ca-file="+cp.authority.certFile(),
		"--service-account-issuer=https://"+address(cp.ports.APIServer)+"/",
		"--service-account-key-file="+cp.authority.keyFile(),
		"--service-account-signing-key-file="+cp.authority.keyFile(),
		"--authorization-mode=RBAC",
		"--allow-privileged",
		"--advertise-address="+advertiseAddress,
		"--disable-admission-plugins=TaintNodesByCondition", // no controller would remove the taint from a new Node
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--kubelet-preferred-address-types="+string(kubeletAddressType),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--enable-priority-and-fairness=false", // no other client competes for this API server
		"--audit-policy-file="+cp.auditPolicy(),
		"--audit-log-path="+filepath.Join(cp.LogsDir, auditLog),
	)
}

// isReady returns an error if the API server is not ready.
func (cp *ControlPlane) isReady(ctx context.Context) error {
	return cp.clientset.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// startServer starts a process and waits until it is ready.
func (cp *ControlPlane) startServer(ctx context.Context, isReady func(context.Context) error, name string, args ...string) error {
	server, err := cp.startProcess(name, args...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it was not ready within %s", startTimeout))
	defer cancel()
	ctx = server.Context(ctx)
	if wait.For(ctx, 0, wait.Poll(healthInterval), isReady) != nil {
		return cp.startError(name, context.Cause(ctx))
	}
	return nil
}
